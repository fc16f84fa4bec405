package assay.airline.customer;

import assay.airline.Refused;
import assay.airline.token.Groups;
import assay.airline.web.Caller;
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
import jakarta.ws.rs.core.Response;

/** {@code /customers/ID}: a customer's own profile. */
@Singleton
@Path("/customers/{id}")
@RolesAllowed(Groups.CUSTOMER)
public class CustomerResource {
  private final Customers customers;
  private final Caller caller;

  @Inject
  public CustomerResource(Customers customers, Caller caller) {
    this.customers = customers;
    this.caller = caller;
  }

  @GET
  public Response view(@PathParam("id") String id) {
    requireOwn(id);
    return JsonAnswer.of(200, json(customers.find(id).orElseThrow(() -> unknown(id))));
  }

  @PUT
  public Response update(
      @PathParam("id") String id,
      @FormParam("name") String name,
      @FormParam("street") String street,
      @FormParam("city") String city,
      @FormParam("phone") String phone) {
    requireOwn(id);
    if (!customers.update(id, new Profile(name, street, city, phone))) {
      throw unknown(id);
    }
    return JsonAnswer.of(200, Json.createObjectBuilder().add("updated", id));
  }

  private void requireOwn(String id) {
    if (!id.equals(caller.subject())) {
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
