package assay.airline.booking;

import assay.airline.effect.Effect;
import assay.airline.peer.PeerFailed;

/** Seats on flights, which are another service's. */
public interface Seats {
  /** What became of a seat, and the miles of its flight. */
  record Seat(Effect effect, long miles) {}

  /** Gives a booking a seat on a flight, once. */
  Seat take(String flight, String booking) throws PeerFailed;

  /** Takes it back, and sees to it that a request for it which comes late does nothing. */
  void takeBack(String flight, String booking) throws PeerFailed;
}
