package assay.supermarket.tier;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;

/** Virtual threads (JEP 444, JDK 21), looked up by name: this is compiled for JDK 17. */
final class VirtualThreads {
  private VirtualThreads() {}

  /** An executor that makes a virtual thread for each task, named with this prefix and a count. */
  static ExecutorService perTask(String prefix) {
    MethodHandles.Lookup lookup = MethodHandles.publicLookup();
    try {
      Class<?> builder = Class.forName("java.lang.Thread$Builder");
      Class<?> virtual = Class.forName("java.lang.Thread$Builder$OfVirtual");
      Object named =
          lookup
              .findVirtual(
                  virtual, "name", MethodType.methodType(virtual, String.class, long.class))
              .invoke(
                  lookup
                      .findStatic(Thread.class, "ofVirtual", MethodType.methodType(virtual))
                      .invoke(),
                  prefix,
                  0L);
      MethodHandle factory =
          lookup.findVirtual(builder, "factory", MethodType.methodType(ThreadFactory.class));
      return (ExecutorService)
          lookup
              .findStatic(
                  Executors.class,
                  "newThreadPerTaskExecutor",
                  MethodType.methodType(ExecutorService.class, ThreadFactory.class))
              .invoke((ThreadFactory) factory.invoke(named));
    } catch (ReflectiveOperationException | UnsupportedOperationException e) {
      // Not there, or, on JDK 19 and 20, there as a preview that is not enabled.
      throw new IllegalArgumentException(
          Tiers.THREADS
              + "=virtual needs JDK 21 or later; this is "
              + Runtime.version().feature()
              + ": use pools, or another JDK",
          e);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("virtual threads", e);
    }
  }
}
