// Started by tests: misuses processors in the way that a line on its input asks for ("spin 2000"), and says "done" when that is over.
import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.InputStreamReader;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

public class Planted {
    interface Work {
        void run() throws Exception;
    }

    static volatile long sink;

    public static void main(String[] arguments) throws Exception {
        // Stays, so that the JVM lists a thread of this name.
        start("fleeting-0", () -> Thread.sleep(Long.MAX_VALUE));
        System.out.println("waiting");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ");
            act(words[0], Integer.parseInt(words[1]));
            System.out.println("done");
        }
    }

    static void act(String what, int number) throws Exception {
        switch (what) {
            // Threads that come and go, each after 5 ms.
            case "fleeting" -> comeAndGo("fleeting-%d", number);
            case "loner" -> comeAndGo("loner", number);
            // The others run for so many milliseconds.
            case "spin" -> together(1, "spinner", number, () -> compute(100_000));
            case "queue" -> together(12, "crowd", number, () -> compute(100_000));
            case "faults" -> together(1, "toucher", number, Planted::touchNewPages);
            case "syscalls" -> syscalls(number);
            case "convoy" -> {
                ReentrantLock fair = new ReentrantLock(true);
                together(4, "convoy", number, () -> {
                    fair.lock();
                    try {
                        compute(100);
                    } finally {
                        fair.unlock();
                    }
                });
            }
            case "healthy" -> together(1, "worker", number, () -> {
                compute(3_000_000);
                Thread.sleep(1);
            });
            default -> throw new IllegalArgumentException(what);
        }
    }

    private static void comeAndGo(String names, int threads) throws Exception {
        for (int i = 1; i <= threads; i++) {
            start(String.format(names, i), () -> {
                long end = System.nanoTime() + 5_000_000;
                while (System.nanoTime() < end) {
                    compute(1000);
                }
            }).join();
        }
    }

    private static void together(int threads, String name, int ms, Work step) throws Exception {
        CountDownLatch done = new CountDownLatch(threads);
        long end = System.nanoTime() + ms * 1_000_000L;
        for (int i = 0; i < threads; i++) {
            start(name + "-" + i, () -> {
                while (System.nanoTime() < end) {
                    step.run();
                }
                done.countDown();
                Thread.sleep(Long.MAX_VALUE);
            });
        }
        done.await();
    }

    private static void compute(int steps) {
        long sum = sink;
        for (int i = 0; i < steps; i++) {
            sum = sum * 31 + i;
        }
        sink = sum;
    }

    /** Memory so large that malloc takes it from the kernel, and gives it back, each time. */
    private static void touchNewPages() throws Exception {
        ByteBuffer buffer = ByteBuffer.allocateDirect(64 << 20);
        Field field = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe");
        field.setAccessible(true);
        Object unsafe = field.get(null);
        unsafe.getClass().getMethod("invokeCleaner", ByteBuffer.class).invoke(unsafe, buffer);
    }

    private static void syscalls(int ms) throws Exception {
        try (FileInputStream zeros = new FileInputStream("/dev/zero")) {
            together(1, "reader", ms, () -> sink += zeros.read());
        }
    }

    private static Thread start(String name, Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}
