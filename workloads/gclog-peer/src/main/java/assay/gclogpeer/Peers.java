package assay.gclogpeer;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Lets other readers read GC logs and prints for each log and reader one line of JSON: what it
 * found, and how long each pass took.
 *
 * <p>Arguments: number of passes, logs. The last passes are warm.
 */
public final class Peers {
  private static final long SECONDS_MAX = 120;
  private static final List<Peer> ALL = List.of(new GcToolKitPeer(), new GcViewerPeer());

  private Peers() {}

  /** See the class. */
  public static void main(String[] arguments) throws InterruptedException {
    // Both warn of what they do not understand, line by line: that would measure the terminal.
    Logger.getLogger("").setLevel(Level.OFF);
    int passes = Integer.parseInt(arguments[0]);
    ExecutorService executor = Executors.newCachedThreadPool(Peers::daemon);
    for (int i = 1; i < arguments.length; i++) {
      for (Peer peer : ALL) {
        System.out.println(line(executor, peer, Path.of(arguments[i]), passes));
      }
    }
    // The library's threads would hold the JVM.
    System.out.flush();
    Runtime.getRuntime().halt(0);
  }

  private static String line(ExecutorService executor, Peer peer, Path log, int passes)
      throws InterruptedException {
    List<String> passesMs = new ArrayList<>();
    String found = "";
    for (int pass = 0; pass < passes; pass++) {
      long began = System.nanoTime();
      Future<PauseSum> reading = executor.submit(() -> peer.read(log));
      try {
        PauseSum sum = reading.get(SECONDS_MAX, TimeUnit.SECONDS);
        found =
            String.format(
                Locale.ROOT, "\"pauses\":%d,\"total_ms\":%.3f", sum.pauses(), sum.totalMs());
      } catch (ExecutionException e) {
        found = "\"error\":" + quoted(String.valueOf(e.getCause()));
      } catch (TimeoutException e) {
        found = "\"error\":\"no end within " + SECONDS_MAX + " s\"";
        break;
      }
      passesMs.add(String.format(Locale.ROOT, "%.3f", (System.nanoTime() - began) / 1e6));
    }
    return String.format(
        "{\"log\":%s,\"peer\":\"%s\",%s,\"passes_ms\":[%s]}",
        quoted(log.toString()), peer.name(), found, String.join(",", passesMs));
  }

  private static String quoted(String text) {
    StringBuilder json = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      json.append(c < ' ' ? "?" : c == '"' || c == '\\' ? "\\" + c : String.valueOf(c));
    }
    return json.append('"').toString();
  }

  private static Thread daemon(Runnable work) {
    Thread thread = new Thread(work, "peer");
    thread.setDaemon(true);
    return thread;
  }
}
