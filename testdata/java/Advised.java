// Started by tests: plants the trouble that its first argument names, says "waiting", and answers each line of input with "done" after one more
// step of it.
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.CountDownLatch;
import java.util.zip.Deflater;

public class Advised {
    static final List<Object> KEPT = new ArrayList<>();
    static final CountDownLatch END = new CountDownLatch(1);
    static final List<Thread> POOL = new ArrayList<>();

    /** Direct buffers of 50 MiB, dropped. */
    static void direct() {
        for (int i = 0; i < 50; i++) {
            ByteBuffer.allocateDirect(1 << 20);
        }
    }

    /** Threads that need 20 MiB of malloc each for an instant, one after the other, and live on. */
    static void arenas() throws Exception {
        for (int t = 0; t < 8; t++) {
            CountDownLatch done = new CountDownLatch(1);
            pool(() -> {
                List<Deflater> open = new ArrayList<>();
                for (int i = 0; i < 80; i++) {
                    open.add(new Deflater());
                }
                KEPT.add(open.remove(79));
                open.forEach(Deflater::end);
                done.countDown();
            });
            done.await();
        }
    }

    /** Threads that were deep in calls once. */
    static void stacks() throws Exception {
        CountDownLatch done = new CountDownLatch(60);
        for (int t = 0; t < 60; t++) {
            pool(() -> {
                int calls = deep(5_000);
                synchronized (KEPT) {
                    KEPT.add(calls);
                }
                done.countDown();
            });
        }
        done.await();
    }

    static int deep(int calls) {
        return calls == 0 ? 0 : deep(calls - 1) + 1;
    }

    /** A heap that was full once. */
    static void heap() {
        List<byte[]> live = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            live.add(new byte[1 << 20]);
        }
        System.gc();
        live.clear();
        System.gc();
    }

    static void pool(Runnable work) {
        Thread thread = new Thread(() -> {
            work.run();
            try {
                END.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        thread.start();
        synchronized (POOL) {
            POOL.add(thread);
        }
    }

    static void step(String what) throws Exception {
        switch (what) {
            case "direct" -> direct();
            case "arenas" -> arenas();
            case "stacks" -> stacks();
            case "heap" -> heap();
            case "end" -> {
                END.countDown();
                for (Thread thread : POOL) {
                    thread.join();
                }
            }
            default -> throw new IllegalArgumentException(what);
        }
    }

    public static void main(String[] arguments) throws Exception {
        step(arguments[0]);
        System.out.println("waiting");
        Scanner input = new Scanner(System.in);
        while (input.hasNextLine()) {
            step(input.nextLine());
            System.out.println("done");
        }
        END.countDown();
    }
}
