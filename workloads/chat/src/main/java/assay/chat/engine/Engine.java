package assay.chat.engine;

import assay.chat.room.Chat;
import assay.chat.wire.Operations;
import java.io.IOException;
import java.nio.channels.SocketChannel;

/** How connections are served: which threads read and write. */
@FunctionalInterface
public interface Engine {
  /** A connection of this engine on a channel that was accepted just now. */
  Connection connect(Chat chat, Operations operations, SocketChannel channel) throws IOException;

  /** The engines by their names in CHAT_ENGINE. */
  static Engine named(String name, int selectors) throws IOException {
    return switch (name) {
      case "two-threads" -> TwoThreads::new;
      case "one-thread" -> OneThread::new;
      case "virtual" -> new VirtualThreads();
      case "selector" -> new Selectors(selectors);
      default ->
          throw new IllegalArgumentException(
              "CHAT_ENGINE=" + name + " is none of two-threads, one-thread, virtual and selector");
    };
  }
}
