package assay.chat.engine;

import assay.chat.room.Chat;
import assay.chat.wire.Operations;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.channels.SocketChannel;
import java.util.concurrent.ThreadFactory;

/**
 * For each connection a virtual thread that reads (JEP 444, JDK 21), and another one while there is
 * something to write: an idle connection has the stack of one. Virtual threads are looked up by
 * name, because this is compiled for JDK 17.
 */
final class VirtualThreads implements Engine {
  private final ThreadFactory threads = factory();

  @Override
  public Connection connect(Chat chat, Operations operations, SocketChannel channel) {
    return new OnVirtualThreads(chat, operations, channel);
  }

  private final class OnVirtualThreads extends Connection {
    OnVirtualThreads(Chat chat, Operations operations, SocketChannel channel) {
      super(chat, operations, channel);
    }

    @Override
    public void start() {
      threads.newThread(this::readUntilClosed).start();
    }

    @Override
    protected void flush() {
      threads.newThread(this::drain).start();
    }
  }

  private static ThreadFactory factory() {
    MethodHandles.Lookup lookup = MethodHandles.publicLookup();
    try {
      Class<?> builder = Class.forName("java.lang.Thread$Builder");
      Class<?> virtual = Class.forName("java.lang.Thread$Builder$OfVirtual");
      Object made =
          lookup.findStatic(Thread.class, "ofVirtual", MethodType.methodType(virtual)).invoke();
      return (ThreadFactory)
          lookup
              .findVirtual(builder, "factory", MethodType.methodType(ThreadFactory.class))
              .invoke(made);
    } catch (ReflectiveOperationException | UnsupportedOperationException e) {
      // Not there, or, on JDK 19 and 20, there as a preview that is not enabled.
      throw new IllegalArgumentException(
          "CHAT_ENGINE=virtual needs JDK 21 or later; this is "
              + Runtime.version().feature()
              + ": use another engine, or another JDK",
          e);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("virtual threads", e);
    }
  }
}
