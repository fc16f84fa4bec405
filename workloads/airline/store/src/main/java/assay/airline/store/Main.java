package assay.airline.store;

import de.bwaldvogel.mongo.MongoServer;

/**
 * A store for documents that speaks MongoDB's protocol, in a process of its own, on loopback. It
 * keeps its data in memory alone: killed, it has lost it.
 *
 * <p>Argument: the port.
 */
public final class Main {
  private Main() {}

  public static void main(String[] arguments) throws InterruptedException {
    if (arguments.length != 1) {
      System.err.println("airline store: one argument is wanted, the port");
      System.exit(2);
    }
    MongoServer server = new MongoServer(new Backend());
    Runtime.getRuntime().addShutdownHook(new Thread(server::shutdown));
    server.bind("127.0.0.1", Integer.parseInt(arguments[0]));
    System.out.println("airline store: ready on port " + arguments[0]);
    Thread.currentThread().join();
  }
}
