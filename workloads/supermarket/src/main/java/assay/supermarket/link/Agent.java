package assay.supermarket.link;

import assay.supermarket.message.Message;
import java.util.concurrent.CompletionStage;

/** Who gets messages. */
public interface Agent {
  AgentId id();

  /**
   * Takes a message, on a thread of the post. The stage completes with the answer when the message
   * has taken its effect, and fails when it has none.
   */
  CompletionStage<? extends Message> receive(Message message);
}
