// Started by tests: threads of every role, most of them at work, until its input is closed. Says "waiting" once all of them run.
import java.io.FileInputStream;
import java.io.InputStream;
import java.net.ServerSocket;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;

public class Working {
    static volatile long sink;
    static volatile Object[] kept;

    public static void main(String[] arguments) throws Exception {
        CountDownLatch started = new CountDownLatch(6);
        ExecutorService pool = Executors.newFixedThreadPool(2);
        pool.execute(() -> count(started));
        pool.execute(() -> allocate(started));
        // Before the carriers of virtual threads, which are in such a pool too.
        ForkJoinPool forkJoin = new ForkJoinPool(1);
        forkJoin.execute(() -> count(started));
        start("reads-zeros", () -> readZeros(started));
        // Names are everybody's to choose.
        start("G1 Conc#0", () -> count(started));
        start("Read-Poller", () -> count(started));
        startVirtual(() -> {
            try (ServerSocket socket = new ServerSocket(0)) {
                socket.accept();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        startVirtual(() -> {
            while (true) {
                sleep(1);
            }
        });
        started.await();
        sleep(200);
        System.out.println("waiting");
        System.out.flush();
        System.in.read();
        System.exit(0);
    }

    private static void start(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }

    // Compiled for releases that have none.
    private static void startVirtual(Runnable work) throws Exception {
        try {
            Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, work);
        } catch (NoSuchMethodException e) {
            System.out.println("no virtual threads");
        }
    }

    private static void count(CountDownLatch started) {
        started.countDown();
        while (true) {
            long sum = 0;
            for (int i = 0; i < 1_000_000; i++) {
                sum += i ^ sum << 1;
            }
            sink = sum;
            sleep(5);
        }
    }

    private static void allocate(CountDownLatch started) {
        started.countDown();
        for (int i = 0; true; i++) {
            Object[] objects = new Object[1000];
            for (int at = 0; at < objects.length; at++) {
                objects[at] = new byte[100];
            }
            kept = objects;
            if (i % 100 == 0) {
                sleep(1);
            }
        }
    }

    private static void readZeros(CountDownLatch started) {
        started.countDown();
        byte[] buffer = new byte[8192];
        try (InputStream zeros = new FileInputStream("/dev/zero")) {
            for (int i = 0; true; i++) {
                sink += zeros.read(buffer);
                if (i % 10_000 == 0) {
                    sleep(5);
                }
            }
        } catch (java.io.IOException e) {
            throw new IllegalStateException(e);
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
