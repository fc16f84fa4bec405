package assay.chat;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;

/** Starts a chat server as the environment says; see README.md. */
public final class Main {
  private Main() {}

  public static void main(String[] arguments) throws InterruptedException {
    try {
      Server server = new Server(Settings.read(System.getenv()));
      Runtime.getRuntime().addShutdownHook(new Thread(() -> close(server), "shutdown"));
      server.start();
      System.out.println("ready on " + server.address());
    } catch (IllegalArgumentException | IOException e) {
      System.err.println("chat: " + e.getMessage());
      System.exit(2);
    }
    new CountDownLatch(1).await();
  }

  private static void close(Server server) {
    try {
      server.close();
    } catch (IOException e) {
      System.err.println("chat: " + e.getMessage());
    }
  }
}
