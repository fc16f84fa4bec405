package assay.supermarket.tier;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.TimeUnit;

/**
 * The threads that the company's agents work on, in five tiers: what customers ask of supermarkets,
 * receipts at headquarters, suppliers, the post, and mining. Each tier is a fork/join pool of its
 * own, so that a long mining request does not keep a purchase waiting; or a thread is made for each
 * message, where threads are virtual.
 *
 * <p>The post moves the agents' mail: it opens messages and answers, and sends the next. Behind
 * customers' requests, or receipts behind mining, mail would come through the more slowly the more
 * of them there are: once loaded beyond what it bears, the company would refuse purchases as long
 * as the load lasts, and answer half of what it can. And receipts are booked one message after the
 * other: on threads of the post they would keep goods waiting that a purchase needs.
 */
public final class Tiers implements AutoCloseable {
  /** What says whether threads come from {@code pools} (default) or are {@code virtual}. */
  public static final String THREADS = "SUPERMARKET_THREADS";

  /** With 1 to 5 behind it: the threads of that tier's pool; by default, the processors. */
  public static final String SIZE = "SUPERMARKET_TIER";

  private static final int SIZE_MAX = 1024;
  private static final List<String> NAMES =
      List.of("supermarket", "headquarters", "supplier", "post", "mining");

  private final List<ExecutorService> executors;
  private final String description;

  private Tiers(List<ExecutorService> executors, String description) {
    this.executors = List.copyOf(executors);
    this.description = description;
  }

  /**
   * The tiers that environment variables ask for.
   *
   * @throws IllegalArgumentException for a size or a kind that there is not, or not on this JDK
   */
  public static Tiers from(Map<String, String> environment) {
    String kind = environment.getOrDefault(THREADS, "pools");
    return switch (kind) {
      case "pools" -> pools(environment);
      case "virtual" -> virtual();
      default ->
          throw new IllegalArgumentException(THREADS + "=" + kind + " is not pools or virtual");
    };
  }

  private static Tiers pools(Map<String, String> environment) {
    List<Integer> sizes = new ArrayList<>();
    for (int tier = 1; tier <= NAMES.size(); tier++) {
      sizes.add(size(environment, SIZE + tier));
    }
    List<ExecutorService> pools = new ArrayList<>();
    for (int i = 0; i < NAMES.size(); i++) {
      pools.add(pool(prefix(NAMES.get(i)), sizes.get(i)));
    }
    return new Tiers(pools, "pools of " + sizes);
  }

  private static int size(Map<String, String> environment, String name) {
    String text = environment.get(name);
    if (text == null) {
      return Runtime.getRuntime().availableProcessors();
    }
    int size;
    try {
      size = Integer.parseInt(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(name + "=" + text + " is not a number of threads", e);
    }
    if (size < 1 || size > SIZE_MAX) {
      throw new IllegalArgumentException(name + "=" + text + " is not between 1 and " + SIZE_MAX);
    }
    return size;
  }

  private static ForkJoinPool pool(String prefix, int size) {
    ForkJoinPool.ForkJoinWorkerThreadFactory factory =
        pool -> {
          ForkJoinWorkerThread thread =
              ForkJoinPool.defaultForkJoinWorkerThreadFactory.newThread(pool);
          thread.setName(prefix + thread.getPoolIndex());
          return thread;
        };
    // Asynchronous mode: messages are not joined, so first come, first served.
    return new ForkJoinPool(size, factory, null, true);
  }

  private static Tiers virtual() {
    return new Tiers(
        NAMES.stream().map(name -> VirtualThreads.perTask(prefix(name))).toList(),
        "virtual threads");
  }

  /** What the names of a tier's threads begin with. */
  private static String prefix(String name) {
    return "tier" + (NAMES.indexOf(name) + 1) + "-" + name + "-";
  }

  /** Where supermarkets do what customers ask. */
  public Executor supermarkets() {
    return executors.get(0);
  }

  /** Where headquarters books receipts. */
  public Executor headquarters() {
    return executors.get(1);
  }

  public Executor suppliers() {
    return executors.get(2);
  }

  /** Where the agents' mail is moved. */
  public Executor post() {
    return executors.get(3);
  }

  /** Where headquarters mines. */
  public Executor mining() {
    return executors.get(4);
  }

  /** For the log: what runs the agents. */
  @Override
  public String toString() {
    return description;
  }

  /** Lets what has begun end, for a few seconds, and stops the rest. */
  @Override
  public void close() {
    executors.forEach(ExecutorService::shutdown);
    try {
      for (ExecutorService executor : executors) {
        if (!executor.awaitTermination(5, TimeUnit.SECONDS)) {
          executor.shutdownNow();
        }
      }
    } catch (InterruptedException e) {
      executors.forEach(ExecutorService::shutdownNow);
      Thread.currentThread().interrupt();
    }
  }
}
