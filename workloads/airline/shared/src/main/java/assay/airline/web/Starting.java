package assay.airline.web;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/**
 * Makes a service ready in a thread of its own, so that it can say meanwhile that it is not. What
 * fails is tried again: a store or another service may come later.
 */
public final class Starting {
  private static final Logger LOG = System.getLogger(Starting.class.getName());
  private static final int PAUSE_MS = 500;

  private Starting() {}

  /** What must be done before a service is ready; doing it twice does no harm. */
  public interface Work {
    void run() throws Exception;
  }

  /** Begins it; the thread ends when the work is done or it is interrupted. */
  public static Thread begin(Readiness readiness, Work work) {
    Thread thread = new Thread(() -> untilReady(readiness, work), "airline-start");
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private static void untilReady(Readiness readiness, Work work) {
    try {
      while (!succeeds(readiness, work)) {
        Thread.sleep(PAUSE_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static boolean succeeds(Readiness readiness, Work work) throws InterruptedException {
    try {
      work.run();
      readiness.ready();
      return true;
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      String why = e.toString();
      if (!readiness.state().endsWith(why)) {
        LOG.log(Level.WARNING, "not ready yet, tried again: {0}", why);
      }
      readiness.waits(why);
      return false;
    }
  }
}
