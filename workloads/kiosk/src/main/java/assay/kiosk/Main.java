package assay.kiosk;

import java.io.IOException;

/** Starts the kiosk: {@code PORT}. See README.md. */
public final class Main {
  private static final long SEED = 8;

  private Main() {}

  public static void main(String[] arguments) throws IOException {
    if (arguments.length != 1 || !arguments[0].matches("\\d{1,5}")) {
      System.err.println("usage: PORT");
      System.exit(2);
    }
    // Read once, when the first server is made. Otherwise an answer, which is written in two
    // pieces,
    // may wait 40 ms for the client's acknowledgement of the first.
    System.setProperty("sun.net.httpserver.nodelay", "true");
    Front front = new Front(new Shop(SEED));
    front.start(Integer.parseInt(arguments[0]));
    System.out.println("ready on port " + front.port());
  }
}
