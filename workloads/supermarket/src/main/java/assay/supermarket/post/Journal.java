package assay.supermarket.post;

import assay.supermarket.link.AgentId;
import assay.supermarket.message.Message;
import java.io.Closeable;
import java.io.IOException;

/** Where an agent writes down what it is about to do, so that a killed process finds it again. */
public interface Journal extends Closeable {
  /** Remembers nothing. */
  Journal NONE =
      new Journal() {
        @Override
        public void append(AgentId agent, Message entry) {}

        @Override
        public void close() {}
      };

  /** Returns when the entry survives the end of this process. */
  void append(AgentId agent, Message entry);

  @Override
  void close() throws IOException;
}
