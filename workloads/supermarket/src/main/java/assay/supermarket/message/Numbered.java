package assay.supermarket.message;

/**
 * A message that must take effect exactly once. Its sender numbers what it sends to one receiver
 * from 1 on without gaps, and repeats it until it is answered; the receiver answers a repetition
 * and does nothing else.
 */
public interface Numbered extends Message {
  /** The sending agent, as {@code AgentId.toString} writes it. */
  String sender();

  /** The number among all that this sender sent to this receiver; of several things, the first. */
  long sequence();
}
