package assay.airline.booking;

import assay.airline.effect.Effect;
import assay.airline.peer.Answer;
import assay.airline.peer.Body;
import assay.airline.peer.Http;
import assay.airline.peer.Peer;
import assay.airline.peer.PeerFailed;
import assay.airline.settings.Settings;
import assay.airline.token.ServiceToken;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;

/** Seats and miles as the flight and the customer service have them. */
@Singleton
public class Peers {
  @Produces
  @Singleton
  static Seats seats(Settings settings, Http http, ServiceToken token) {
    Peer flight = new Peer("flight", settings.peers("AIRLINE_FLIGHT"), http);
    return new Seats() {
      @Override
      public Seat take(String name, String booking) throws PeerFailed {
        String path = "/internal/seats/" + name + "/" + booking;
        Answer answer = good(flight.ask("PUT", path, token.get(), Body.NONE), "flight");
        var json = answer.json();
        return new Seat(
            Effect.valueOf(json.getString("effect")), json.getJsonNumber("miles").longValue());
      }

      @Override
      public void takeBack(String name, String booking) throws PeerFailed {
        String path = "/internal/seats/" + name + "/" + booking;
        Answer unused = good(flight.ask("DELETE", path, token.get(), Body.NONE), "flight");
      }
    };
  }

  @Produces
  @Singleton
  static Miles miles(Settings settings, Http http, ServiceToken token) {
    Peer customer = new Peer("customer", settings.peers("AIRLINE_CUSTOMER"), http);
    return new Miles() {
      @Override
      public Effect credit(String name, String booking, long miles) throws PeerFailed {
        String path = "/internal/credits/" + name + "/" + booking;
        Body body = Body.form("miles", String.valueOf(miles));
        Answer answer = good(customer.ask("PUT", path, token.get(), body), "customer");
        return Effect.valueOf(answer.json().getString("effect"));
      }

      @Override
      public void takeBack(String name, String booking) throws PeerFailed {
        String path = "/internal/credits/" + name + "/" + booking;
        Answer unused = good(customer.ask("DELETE", path, token.get(), Body.NONE), "customer");
      }
    };
  }

  private static Answer good(Answer answer, String name) throws PeerFailed {
    if (answer.status() != 200) {
      throw new PeerFailed(name + " answered with " + answer.described());
    }
    return answer;
  }
}
