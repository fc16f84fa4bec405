package assay.brokerage.web;

import jakarta.inject.Singleton;
import java.util.concurrent.atomic.AtomicReference;

/** Whether the server may be asked, and why not. */
@Singleton
class Readiness {
  private static final String READY = "ready";

  private final AtomicReference<String> state = new AtomicReference<>("starting");

  boolean isReady() {
    return state.get().equals(READY);
  }

  String state() {
    return state.get();
  }

  void ready() {
    state.set(READY);
  }

  void failed(String why) {
    state.set("failed: " + why);
  }
}
