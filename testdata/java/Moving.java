// Started by tests: threads whose Java objects and names the collector moves again and again, and nobody else follows, until its input
// is closed. Says "waiting" once all of them run.
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;

public class Moving {
    private static final int NAMED = 16;
    private static final int WORKERS = 4;
    static volatile Object[] kept;

    public static void main(String[] arguments) throws Exception {
        CountDownLatch started = new CountDownLatch(NAMED + WORKERS);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < NAMED; i++) {
            Thread thread = new Thread(() -> rest(started), "has a name that is longer than the kernel's, number " + i);
            thread.setDaemon(true);
            thread.start();
            threads.add(thread);
        }
        ForkJoinPool pool = new ForkJoinPool(WORKERS);
        for (int i = 0; i < WORKERS; i++) {
            pool.execute(() -> {
                synchronized (threads) {
                    threads.add(Thread.currentThread());
                }
                rest(started);
            });
        }
        started.await();
        Thread allocates = new Thread(() -> allocate(threads), "allocates");
        allocates.setDaemon(true);
        allocates.start();
        Thread.sleep(500);
        System.out.println("waiting");
        System.out.flush();
        System.in.read();
        System.exit(0);
    }

    // Objects of every size and age, so that pages are worth emptying; and now and then the same name anew, which is young.
    private static void allocate(List<Thread> threads) {
        Random random = new Random(1);
        Object[] objects = new Object[20_000];
        kept = objects;
        for (int i = 0; true; i++) {
            objects[random.nextInt(objects.length)] = new byte[random.nextInt(2_000)];
            if (i % 20_000 == 0) {
                Thread thread = threads.get(random.nextInt(threads.size()));
                thread.setName(new String(thread.getName().toCharArray()));
            }
            if (i % 1_000 == 0) {
                sleep(1);
            }
        }
    }

    private static void rest(CountDownLatch started) {
        started.countDown();
        while (true) {
            sleep(60_000);
        }
    }

    private static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
