package assay.airline.booking;

import assay.airline.Refused;
import assay.airline.peer.PeerFailed;
import assay.airline.token.Groups;
import assay.airline.web.Caller;
import assay.airline.web.JsonAnswer;
import jakarta.annotation.security.RolesAllowed;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.json.Json;
import jakarta.json.JsonArrayBuilder;
import jakarta.json.JsonObjectBuilder;
import jakarta.json.JsonValue;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.FormParam;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.PUT;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.core.Response;
import java.util.List;
import java.util.Optional;

/** {@code /bookings}: those of the customer whom the token names. */
@Singleton
@Path("/bookings")
@RolesAllowed(Groups.CUSTOMER)
public class BookingResource {
  private final Bookings bookings;
  private final Unfinished unfinished;
  private final Gate gate;
  private final Caller caller;

  @Inject
  public BookingResource(Bookings bookings, Unfinished unfinished, Gate gate, Caller caller) {
    this.bookings = bookings;
    this.unfinished = unfinished;
    this.gate = gate;
    this.caller = caller;
  }

  @GET
  public Response list() {
    JsonArrayBuilder list = Json.createArrayBuilder();
    for (Booking booking : bookings.ofCustomer(caller.subject())) {
      list.add(json(booking));
    }
    return JsonAnswer.of(200, Json.createObjectBuilder().add("bookings", list));
  }

  /** Books; asking again with the same id books nothing else. */
  @PUT
  @Path("/{id}")
  public Response book(
      @PathParam("id") String id,
      @FormParam("out") @DefaultValue("") String out,
      @FormParam("back") @DefaultValue("") String back)
      throws PeerFailed {
    List<String> flights = back.isEmpty() ? List.of(out) : List.of(out, back);
    Booking booked =
        gate.through(
            () -> withRecords(() -> finished(bookings.open(caller.subject(), id, flights))));
    return JsonAnswer.of(201, json(booked));
  }

  /** Cancels the oldest booking beyond those that are kept; there may be none. */
  @POST
  @Path("/cancel-oldest")
  public Response cancelOldest(@FormParam("keep") @DefaultValue("0") int keep) throws PeerFailed {
    Optional<Booking> cancelled =
        gate.through(
            () ->
                withRecords(
                    () -> undone(bookings.cancelOldest(caller.subject(), Math.max(0, keep)))));
    JsonObjectBuilder answer = Json.createObjectBuilder();
    cancelled.ifPresentOrElse(
        b -> answer.add("cancelled", b.id()), () -> answer.add("cancelled", JsonValue.NULL));
    return JsonAnswer.of(200, answer);
  }

  @DELETE
  @Path("/{id}")
  public Response cancel(@PathParam("id") String id) throws PeerFailed, InterruptedException {
    Booking cancelled =
        gate.through(() -> withRecords(() -> undone(bookings.cancel(caller.subject(), id))))
            .orElseThrow(() -> new Refused(Refused.Reason.NOT_FOUND, "there is no such booking"));
    return JsonAnswer.of(200, Json.createObjectBuilder().add("cancelled", cancelled.id()));
  }

  /**
   * Whatever ends the work without an answer that says how far it came, such as a store that failed
   * or a JVM without memory, may leave a record that nobody would finish before the next start.
   */
  private <T> T withRecords(Gate.Work<T, PeerFailed> work) throws PeerFailed {
    try {
      return work.run();
    } catch (Refused | PeerFailed e) {
      throw e;
    } catch (Throwable e) {
      unfinished.suspectRecords();
      throw e;
    }
  }

  private Booking finished(Booking booking) throws PeerFailed {
    try {
      return bookings.finish(booking);
    } catch (PeerFailed e) {
      unfinished.add(booking);
      throw e;
    }
  }

  private Optional<Booking> undone(Optional<Booking> cancelled) throws PeerFailed {
    if (cancelled.isPresent()) {
      try {
        bookings.undo(cancelled.get());
      } catch (PeerFailed e) {
        unfinished.add(cancelled.get());
        throw e;
      }
    }
    return cancelled;
  }

  private static JsonObjectBuilder json(Booking booking) {
    return Json.createObjectBuilder()
        .add("id", booking.id())
        .add("flights", Json.createArrayBuilder(booking.flights()))
        .add("miles", booking.miles());
  }
}
