package assay.airline.customer;

import assay.airline.Refused;
import assay.airline.token.Groups;
import assay.airline.web.JsonAnswer;
import jakarta.annotation.security.RolesAllowed;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.json.Json;
import jakarta.json.JsonArrayBuilder;
import jakarta.json.JsonObjectBuilder;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.FormParam;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.PUT;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.core.Response;
import org.bson.Document;

/** {@code /internal}: what other services ask for. */
@Singleton
@Path("/internal")
@RolesAllowed(Groups.SERVICE)
public class CustomerInternalResource {
  private final Customers customers;

  @Inject
  public CustomerInternalResource(Customers customers) {
    this.customers = customers;
  }

  @POST
  @Path("/password")
  public Response password(
      @FormParam("customer") @DefaultValue("") String customer,
      @FormParam("password") @DefaultValue("") String password) {
    boolean right = customers.isPassword(customer, password);
    return JsonAnswer.of(200, Json.createObjectBuilder().add("right", right));
  }

  @PUT
  @Path("/credits/{customer}/{booking}")
  public Response credit(
      @PathParam("customer") String customer,
      @PathParam("booking") String booking,
      @FormParam("miles") @DefaultValue("0") long miles) {
    if (miles <= 0) {
      throw new Refused(Refused.Reason.INVALID, "miles are above 0");
    }
    String effect = customers.credit(customer, booking, miles).name();
    return JsonAnswer.of(200, Json.createObjectBuilder().add("effect", effect));
  }

  @DELETE
  @Path("/credits/{customer}/{booking}")
  public Response takeBack(
      @PathParam("customer") String customer, @PathParam("booking") String booking) {
    // Without such a customer there is nothing to take back.
    boolean isKnown = customers.takeBack(customer, booking);
    return JsonAnswer.of(200, Json.createObjectBuilder().add("known", isKnown));
  }

  /** What the audit compares: all customers with miles or credits, and how many there are. */
  @GET
  @Path("/ledger")
  public Response ledger() {
    JsonArrayBuilder entries = Json.createArrayBuilder();
    long count = 0;
    for (Document document : customers.all()) {
      Customer customer = Customer.of(document);
      count++;
      if (customer.miles() != 0 || !customer.credits().isEmpty()) {
        entries.add(json(customer));
      }
    }
    return JsonAnswer.of(
        200, Json.createObjectBuilder().add("count", count).add("customers", entries));
  }

  private static JsonObjectBuilder json(Customer customer) {
    JsonArrayBuilder credits = Json.createArrayBuilder();
    for (Customer.Credit credit : customer.credits()) {
      credits.add(
          Json.createObjectBuilder().add("booking", credit.booking()).add("miles", credit.miles()));
    }
    return Json.createObjectBuilder()
        .add("id", customer.id())
        .add("miles", customer.miles())
        .add("credits", credits);
  }
}
