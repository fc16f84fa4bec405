package assay.airline.web;

import jakarta.inject.Singleton;
import java.util.concurrent.atomic.AtomicReference;

/** Whether a service may be asked, and why not. */
@Singleton
public class Readiness {
  private static final String READY = "ready";

  private final AtomicReference<String> state = new AtomicReference<>("starting");

  public boolean isReady() {
    return state.get().equals(READY);
  }

  public String state() {
    return state.get();
  }

  public void ready() {
    state.set(READY);
  }

  /** Not ready yet, for this reason. */
  public void waits(String why) {
    state.set("starting: " + why);
  }
}
