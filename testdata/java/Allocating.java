import java.util.Scanner;
import java.util.concurrent.CountDownLatch;

/**
 * Allocates a known amount for each line of input: that many MiB in arrays of 1 KiB in each of four threads, and in a fifth one that ends, if the
 * line has a second word. It answers when all of them are done.
 */
public final class Allocating {
  private static final int THREADS = 4;
  private static final int ARRAY_BYTES = 1024;
  private static final int HEADER_BYTES = 16;

  static volatile byte[] last;

  private final Object turn = new Object();
  private long step;
  private int mib;
  private CountDownLatch done;

  public static void main(String[] words) throws Exception {
    new Allocating().work();
  }

  private void work() throws Exception {
    for (int i = 0; i < THREADS; i++) {
      Thread worker = new Thread(this::steps, "worker-" + i);
      worker.setDaemon(true);
      worker.start();
    }
    System.out.println("waiting");
    Scanner input = new Scanner(System.in);
    while (input.hasNextLine()) {
      String[] words = input.nextLine().split(" ");
      CountDownLatch all = new CountDownLatch(THREADS);
      synchronized (turn) {
        step++;
        mib = Integer.parseInt(words[0]);
        done = all;
        turn.notifyAll();
      }
      all.await();
      if (1 < words.length) {
        Thread passing = new Thread(() -> allocate(Integer.parseInt(words[0])), "passing");
        passing.start();
        passing.join();
      }
      System.out.println("done");
    }
  }

  private void steps() {
    long seen = 0;
    while (true) {
      int wanted;
      CountDownLatch all;
      synchronized (turn) {
        while (step == seen) {
          try {
            turn.wait();
          } catch (InterruptedException e) {
            return;
          }
        }
        seen = step;
        wanted = mib;
        all = done;
      }
      allocate(wanted);
      all.countDown();
    }
  }

  private static void allocate(int mib) {
    for (int i = 0; i < mib * 1024; i++) {
      last = new byte[ARRAY_BYTES - HEADER_BYTES];
    }
  }
}
