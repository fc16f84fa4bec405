package assay.supermarket.link;

import assay.supermarket.message.Message;
import java.util.concurrent.CompletionStage;

/** The only way from one agent to another. */
public interface Link {
  /**
   * Sends a message once. The stage completes with the answer; it fails when there is no such
   * agent, no way to it, no answer in time, or an answer of another type. Whether the message took
   * effect is then unknown: the sender may repeat it.
   */
  <R extends Message> CompletionStage<R> send(AgentId to, Message message, Class<R> reply);
}
