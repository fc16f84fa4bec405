// Started by tests: misuses processors in the way that a line on its input asks for ("spin 1"), and says "done" when that is over or under way.
import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntUnaryOperator;

public class Planted {
    interface Work {
        void run() throws Exception;
    }

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
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
            // Threads that come and go, each after 5 ms of CPU time.
            case "fleeting" -> comeAndGo("fleeting-%d", number);
            case "loner" -> comeAndGo("loner", number);
            // The others go on until the program ends, in so many threads.
            case "spin" -> together(number, "spinner", () -> compute(100_000));
            case "queue" -> together(number, "crowd", () -> compute(100_000));
            case "faults" -> together(number, "toucher", Planted::touchNewPages);
            case "syscalls" -> {
                // Large reads: with 16 KB no more than 58 % of the time was in the kernel, which the interval does not tell from a half.
                FileChannel zeros = new FileInputStream("/dev/zero").getChannel();
                ByteBuffer buffer = ByteBuffer.allocateDirect(256 << 10);
                together(number, "reader", () -> sink += zeros.read(buffer.clear()));
            }
            case "convoy" -> {
                ReentrantLock fair = new ReentrantLock(true);
                together(number, "convoy", () -> {
                    fair.lock();
                    try {
                        compute(100);
                    } finally {
                        fair.unlock();
                    }
                });
            }
            // Threads that write a counter each, all of them in one line of the caches.
            case "sharing" -> {
                AtomicLongArray counters = new AtomicLongArray(64);
                for (int i = 0; i < number; i++) {
                    int own = 16 + i;
                    together(1, "sharer-" + i, () -> {
                        for (int step = 0; step < 100_000; step++) {
                            counters.getAndIncrement(own);
                        }
                    });
                }
            }
            case "healthy" -> together(number, "worker", () -> {
                compute(3_000_000);
                Thread.sleep(1);
            });
            // Virtual threads that a native method keeps on their carriers (JDK 21 and later).
            case "carriers" -> {
                for (int i = 0; i < number; i++) {
                    Runnable waits = () -> {
                        try {
                            // It ends when this program does.
                            sink += new ProcessBuilder("cat").start().getInputStream().read();
                        } catch (java.io.IOException e) {
                            throw new java.io.UncheckedIOException(e);
                        }
                    };
                    Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, waits);
                }
                Thread.sleep(1000);
                start("computes", () -> {
                    while (true) {
                        compute(100_000);
                    }
                });
            }
            // Virtual threads that wait inside synchronized, one after the other: before JDK 24 each keeps its carrier.
            case "pinned" -> {
                for (int i = 0; i < number; i++) {
                    Runnable waits = () -> {
                        Object own = new Object();
                        while (true) {
                            synchronized (own) {
                                try {
                                    Thread.sleep(50);
                                } catch (InterruptedException e) {
                                    return;
                                }
                            }
                        }
                    };
                    Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, waits);
                }
                together(1, "worker", () -> {
                    compute(3_000_000);
                    Thread.sleep(1);
                });
            }
            // A selector that nobody waits in.
            case "polls" -> {
                Selector selector = Selector.open();
                together(1, "poller", () -> sink += selector.selectNow());
            }
            // An exception without a cause of its own, from a stack of so many frames.
            case "exceptions" -> together(1, "order", () -> sink += below(number));
            // So many percent of the heap stay in use, and two threads make objects.
            case "full" -> {
                long bytes = Runtime.getRuntime().maxMemory() / 100 * number;
                for (long kept = 0; kept < bytes; kept += 2064) {
                    KEPT.add(new byte[2048]);
                }
                together(2, "order", () -> sink += new byte[1000 + (int) (sink & 1023)].length);
            }
            // A class of its own for each use.
            case "classes" -> {
                byte[] rule;
                try (InputStream file = Planted.class.getResourceAsStream("Planted$Rule.class")) {
                    rule = file.readAllBytes();
                }
                together(number, "engine", () -> {
                    IntUnaryOperator made = (IntUnaryOperator) new Own(rule).findClass("Planted$Rule")
                        .getDeclaredConstructor().newInstance();
                    for (int i = 0; i < 6_000; i++) {
                        sink += made.applyAsInt(i);
                    }
                });
            }
            // Objects whose finalizer takes long.
            case "finalizers" -> together(number, "maker", () -> {
                sink += new Finalized().hashCode();
                Thread.sleep(1);
            });
            default -> throw new IllegalArgumentException(what);
        }
    }

    private static final List<byte[]> KEPT = new ArrayList<>();

    /** Loaded again and again. */
    public static class Rule implements IntUnaryOperator {
        private int sum;

        private int step(int x) {
            int result = x;
            for (int i = 0; i < 50; i++) {
                result = result * 31 + (result >>> 3) ^ i;
                sum += result;
            }
            return result;
        }

        @Override
        public int applyAsInt(int x) {
            return step(x) + step(x + 1) + step(x ^ 7);
        }
    }

    private static class Own extends ClassLoader {
        private final byte[] code;

        Own(byte[] code) {
            super(Planted.class.getClassLoader());
            this.code = code;
        }

        @Override
        protected Class<?> findClass(String name) {
            return defineClass(name, code, 0, code.length);
        }
    }

    private static class Finalized {
        private final byte[] data = new byte[100_000];

        @Override
        @SuppressWarnings({"deprecation", "removal"})
        protected void finalize() {
            compute(10_000_000 + data.length);
        }
    }

    private static void comeAndGo(String names, int threads) throws Exception {
        for (int i = 1; i <= threads; i++) {
            start(String.format(names, i), () -> {
                // Of CPU time: on a full machine a thread that goes by the clock has less.
                while (THREADS.getCurrentThreadCpuTime() < 5_000_000) {
                    compute(1000);
                }
            }).join();
        }
    }

    private static int below(int frames) {
        if (0 < frames) {
            return below(frames - 1) + 1;
        }
        try {
            throw new IllegalStateException("not found");
        } catch (IllegalStateException notFound) {
            return notFound.getMessage().length();
        }
    }

    private static void together(int threads, String name, Work step) throws Exception {
        CountDownLatch started = new CountDownLatch(threads);
        for (int i = 0; i < threads; i++) {
            start(name + "-" + i, () -> {
                // Compiled, for the most part.
                for (int warm = 0; warm < 30; warm++) {
                    step.run();
                }
                started.countDown();
                while (true) {
                    step.run();
                }
            });
        }
        started.await();
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
