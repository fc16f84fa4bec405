import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Scanner;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Heaps that leak in a known place, and heaps that do not: the first argument says which. Each line of input is a step of work, after
 * which it answers with the bytes that its plant holds.
 */
public final class Leaks {
  private static final int STEP_BYTES = 4 << 20;
  private static final int PIECE_BYTES = 4096;

  /** What is kept: known by its class, however it is kept. */
  static final class Item {
    final byte[] content = new byte[PIECE_BYTES];
  }

  /** A piece of work that nobody gets to. */
  static final class Task implements Runnable {
    private final Item item = new Item();

    @Override
    public void run() {
      if (item.content.length == 0) {
        throw new IllegalStateException();
      }
    }
  }

  interface Plant {
    /** Bytes that it holds after the step, besides headers. */
    long step(int number) throws Exception;
  }

  static final class Cache implements Plant {
    private static final Map<Integer, Item> ENTRIES = new HashMap<>();

    @Override
    public long step(int number) {
      for (int i = 0; i < STEP_BYTES / PIECE_BYTES; i++) {
        ENTRIES.put(ENTRIES.size(), new Item());
      }
      return (long) ENTRIES.size() * PIECE_BYTES;
    }
  }

  static final class BoundedCache implements Plant {
    private static final int MOST = 6 * STEP_BYTES / PIECE_BYTES;
    private static final Map<Integer, Item> BOUNDED =
        new LinkedHashMap<Integer, Item>() {
          @Override
          protected boolean removeEldestEntry(Map.Entry<Integer, Item> eldest) {
            return size() > MOST;
          }
        };
    private int next;

    @Override
    public long step(int number) {
      for (int i = 0; i < STEP_BYTES / PIECE_BYTES; i++) {
        BOUNDED.put(next++, new Item());
      }
      return (long) BOUNDED.size() * PIECE_BYTES;
    }
  }

  static final class Locals implements Plant {
    private static final ThreadLocal<List<Item>> CONTEXT = ThreadLocal.withInitial(ArrayList::new);
    private final ExecutorService pool =
        Executors.newFixedThreadPool(
            4,
            work -> {
              Thread thread = new Thread(work, "request-worker");
              thread.setDaemon(true);
              return thread;
            });

    @Override
    public long step(int number) throws Exception {
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < STEP_BYTES / PIECE_BYTES; i++) {
        all.add(pool.submit(() -> CONTEXT.get().add(new Item())));
      }
      for (Future<?> one : all) {
        one.get();
      }
      return (long) (number + 1) * STEP_BYTES;
    }
  }

  static final class Queue implements Plant {
    private final CountDownLatch never = new CountDownLatch(1);
    private final ExecutorService slow =
        Executors.newSingleThreadExecutor(
            work -> {
              Thread thread = new Thread(work, "slow-consumer");
              thread.setDaemon(true);
              return thread;
            });

    Queue() {
      slow.execute(
          () -> {
            try {
              never.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          });
    }

    @Override
    public long step(int number) {
      for (int i = 0; i < STEP_BYTES / PIECE_BYTES; i++) {
        slow.execute(new Task());
      }
      return (long) (number + 1) * STEP_BYTES;
    }
  }

  /** Lives long enough to be promoted, then dies. */
  static final class Dying implements Plant {
    private static final Deque<Item> RECENT = new ArrayDeque<>();

    @Override
    public long step(int number) {
      for (int i = 0; i < 4 * STEP_BYTES / PIECE_BYTES; i++) {
        RECENT.add(new Item());
        if (RECENT.size() > 2 * STEP_BYTES / PIECE_BYTES) {
          RECENT.remove();
        }
      }
      return (long) RECENT.size() * PIECE_BYTES;
    }
  }

  /** Nothing outlives its step. */
  static final class Churn implements Plant {
    private static volatile Object last;

    @Override
    public long step(int number) {
      for (int i = 0; i < 8 * STEP_BYTES / PIECE_BYTES; i++) {
        last = new Item();
      }
      return PIECE_BYTES;
    }
  }

  /** Fills what it needs with the first steps and works with it from then on. */
  static final class WarmUp implements Plant {
    private static final List<Item> TABLE = new ArrayList<>();

    @Override
    public long step(int number) {
      if (number < 5) {
        for (int i = 0; i < 2 * STEP_BYTES / PIECE_BYTES; i++) {
          TABLE.add(new Item());
        }
      }
      for (Item item : TABLE) {
        item.content[number % PIECE_BYTES]++;
      }
      return (long) TABLE.size() * PIECE_BYTES;
    }
  }

  /** Keys come at random: the fuller it is, the fewer of them are new. */
  static final class FillingCache implements Plant {
    private static final int KEYS = 6 * STEP_BYTES / PIECE_BYTES;
    private static final Map<Integer, Item> BY_KEY = new HashMap<>();
    private final Random random = new Random(1);

    @Override
    public long step(int number) {
      for (int i = 0; i < 2 * STEP_BYTES / PIECE_BYTES; i++) {
        BY_KEY.computeIfAbsent(random.nextInt(KEYS), key -> new Item());
      }
      return (long) BY_KEY.size() * PIECE_BYTES;
    }
  }

  /** Takes as many buffers as work needs at a time, and gives them back: it holds as many as were ever needed at once. */
  static final class Pool implements Plant {
    private static final int MOST = 64;
    private static final Deque<ByteBuffer> FREE = new ArrayDeque<>();
    private final Random random = new Random(2);

    @Override
    public long step(int number) {
      List<ByteBuffer> taken = new ArrayList<>();
      for (int i = random.nextInt(MOST); 0 <= i; i--) {
        ByteBuffer free = FREE.poll();
        taken.add(free == null ? ByteBuffer.allocateDirect(16 * PIECE_BYTES) : free);
      }
      FREE.addAll(taken);
      return (long) FREE.size() * 16 * PIECE_BYTES;
    }
  }

  /** Direct buffers that nobody holds when the step is over: a collection will free them. */
  static final class DeadBuffers implements Plant {
    @Override
    public long step(int number) {
      for (int i = 0; i < STEP_BYTES / 4 / PIECE_BYTES; i++) {
        last = ByteBuffer.allocateDirect(PIECE_BYTES);
      }
      last = null;
      return 0;
    }

    private static volatile Object last;
  }

  /** Now few and now many threads, which end with the step. */
  static final class Bursts implements Plant {
    private final Random random = new Random(3);

    @Override
    public long step(int number) throws Exception {
      List<Thread> all = new ArrayList<>();
      for (int i = random.nextInt(40); 0 <= i; i--) {
        Thread thread = new Thread(() -> Churn.last = new Item());
        thread.start();
        all.add(thread);
      }
      for (Thread thread : all) {
        thread.join();
      }
      return 0;
    }
  }

  private Leaks() {}

  private static Plant plant(String name) {
    switch (name) {
      case "cache":
        return new Cache();
      case "bounded-cache":
        return new BoundedCache();
      case "thread-local":
        return new Locals();
      case "queue":
        return new Queue();
      case "dying":
        return new Dying();
      case "churn":
        return new Churn();
      case "warm-up":
        return new WarmUp();
      case "filling-cache":
        return new FillingCache();
      case "pool":
        return new Pool();
      case "dead-buffers":
        return new DeadBuffers();
      case "bursts":
        return new Bursts();
      default:
        throw new IllegalArgumentException(name);
    }
  }

  public static void main(String[] args) throws Exception {
    Plant plant = plant(args[0]);
    System.out.println("ready");
    Scanner lines = new Scanner(System.in);
    for (int number = 0; lines.hasNextLine(); number++) {
      lines.nextLine();
      System.out.println(plant.step(number));
    }
  }
}
