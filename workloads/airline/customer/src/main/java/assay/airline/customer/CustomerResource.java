package assay.airline.customer;

import assay.airline.Refused;
import assay.airline.token.Groups;
import assay.airline.web.JsonAnswer;
import jakarta.annotation.security.RolesAllowed;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.json.Json;
import jakarta.json.JsonObjectBuilder;
import jakarta.ws.rs.FormParam;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.PUT;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.SecurityContext;

/** {@code /customers/ID}: a customer's own profile. */
@Singleton
@Path("/customers/{id}")
@RolesAllowed(Groups.CUSTOMER)
public class CustomerResource {
  private final Customers customers;

  @Inject
  public CustomerResource(Customers customers) {
    this.customers = customers;
  }

  @GET
  public Response view(@PathParam("id") String id, @Context SecurityContext security) {
    requireOwn(id, security);
    return JsonAnswer.of(200, json(customers.find(id).orElseThrow(() -> unknown(id))));
  }

  @PUT
  public Response update(
      @PathParam("id") String id,
      @FormParam("name") String name,
      @FormParam("street") String street,
      @FormParam("city") String city,
      @FormParam("phone") String phone,
      @Context SecurityContext security) {
    requireOwn(id, security);
    if (!customers.update(id, new Profile(name, street, city, phone))) {
      throw unknown(id);
    }
    return JsonAnswer.of(200, Json.createObjectBuilder().add("updated", id));
  }

  private static void requireOwn(String id, SecurityContext security) {
    if (!id.equals(security.getUserPrincipal().getName())) {
      throw new Refused(Refused.Reason.NOT_ALLOWED, "the token is another customer's");
    }
  }

  private static Refused unknown(String id) {
    return new Refused(Refused.Reason.NOT_FOUND, "there is no customer " + id);
  }

  private static JsonObjectBuilder json(Customer customer) {
    return Json.createObjectBuilder()
        .add("id", customer.id())
        .add("name", customer.profile().name())
        .add("street", customer.profile().street())
        .add("city", customer.profile().city())
        .add("phone", customer.profile().phone())
        .add("miles", customer.miles())
        .add("bookings", customer.credits().size());
  }
}
