package assay.airline.booking;

import assay.airline.effect.Effect;
import assay.airline.peer.PeerFailed;

/** Miles of customers, which are another service's. */
public interface Miles {
  /** Gives a customer the miles of a booking, once. */
  Effect credit(String customer, String booking, long miles) throws PeerFailed;

  /** Takes them back, and sees to it that a request for them which comes late does nothing. */
  void takeBack(String customer, String booking) throws PeerFailed;
}
