import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.zip.Deflater;
import javax.management.ObjectName;

/**
 * Programs with one trouble each, for the logs of which a collector's finding is known: the trouble is planted.
 *
 * <p>Arguments: trouble, seconds, and a number whose meaning the trouble says.
 */
public final class Troubles {
    private static final int KIB = 1 << 10;
    private static final List<Object> KEPT = new ArrayList<>();
    private static volatile Object sink;
    private static long until_ns;

    /** A class that is defined again and again. */
    public static final class Small {
        /** Gives class metadata some size. */
        public long sum(long a, long b) {
            return a * 31 + b;
        }
    }

    /** Defines {@link Small} anew in each of its instances. */
    private static final class Loader extends ClassLoader {
        Class<?> define(byte[] bytes) {
            return defineClass("Troubles$Small", bytes, 0, bytes.length);
        }
    }

    /** Ends with a finalizer, for which all that it refers to is kept until then. */
    private static final class Finalized {
        private final byte[][] bytes = new byte[20][16];

        @Override
        protected void finalize() {
            sink = bytes;
        }
    }

    public static void main(String[] arguments) throws Exception {
        until_ns = System.nanoTime() + Long.parseLong(arguments[1]) * 1_000_000_000L;
        int number = Integer.parseInt(arguments[2]);
        switch (arguments[0]) {
            case "leak": leak(number, Integer.parseInt(arguments[1])); break;
            case "live": live(number); break;
            case "explicit": explicit(number); break;
            case "classes": classes(number, Integer.parseInt(arguments[1]), false); break;
            case "loaders": classes(number, Integer.parseInt(arguments[1]), true); break;
            case "direct": direct(number); break;
            case "large": large(number); break;
            case "churn": churn(number); break;
            case "finalizers": finalizers(number); break;
            case "strings": strings(number); break;
            case "threads": threads(number); break;
            case "loop": loop(number); break;
            case "dumps": dumps(); break;
            case "histograms": histograms(number); break;
            case "critical": critical(number); break;
            case "ring": ring(number); break;
            default: throw new IllegalArgumentException(arguments[0]);
        }
        System.exit(0);
    }

    private static boolean runs() {
        return System.nanoTime() < until_ns;
    }

    private static void garbage(int kib) {
        for (int at = 0; at < kib; at++) {
            sink = new byte[KIB - 16];
        }
    }

    private static void keep(int mib) {
        for (int at = 0; at < mib * KIB; at++) {
            KEPT.add(new byte[KIB - 20]);
        }
    }

    /** Keeps so many MiB more each second, beside garbage: on a slow machine for longer, since as much must be kept. */
    private static void leak(int mib, int seconds) throws InterruptedException {
        keep(8);
        int wanted = KEPT.size() + mib * KIB * seconds * 9 / 10;
        try {
            while (runs() || KEPT.size() < wanted) {
                for (int at = 0; at < mib * KIB / 50; at++) {
                    KEPT.add(new byte[KIB - 20]);
                }
                garbage(KIB);
                Thread.sleep(20);
            }
        } catch (OutOfMemoryError e) {
            KEPT.clear();
        }
    }

    /** Keeps so many MiB, and makes garbage. */
    private static void live(int mib) throws InterruptedException {
        keep(mib);
        Random random = new Random(1);
        while (runs()) {
            garbage(KIB);
            KEPT.set(random.nextInt(KEPT.size()), new byte[KIB - 20]);
            Thread.sleep(10);
        }
    }

    /** Asks for a collection every so many milliseconds. */
    private static void explicit(int ms) throws InterruptedException {
        keep(20);
        while (runs()) {
            garbage(KIB);
            System.gc();
            Thread.sleep(ms);
        }
    }

    /** Defines so many classes each second, which are kept or not: on a slow machine for longer, since as many must be made. */
    private static void classes(int per_s, int seconds, boolean isKept) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (InputStream in = Troubles.class.getResourceAsStream("Troubles$Small.class")) {
            for (int read = in.read(); 0 <= read; read = in.read()) {
                out.write(read);
            }
        }
        byte[] bytes = out.toByteArray();
        keep(8);
        int defined = 0;
        while (runs() || defined < per_s * seconds / 2) {
            for (int at = 0; at < per_s / 50; at++) {
                defined++;
                try {
                    Object made = new Loader().define(bytes).getDeclaredConstructor().newInstance();
                    sink = made;
                    if (isKept) {
                        KEPT.add(made);
                    }
                } catch (OutOfMemoryError e) {
                    KEPT.clear();
                }
            }
            Thread.sleep(20);
        }
    }

    /** Makes so many direct buffers of 1 MiB each second, and keeps none. */
    private static void direct(int per_s) throws InterruptedException {
        keep(20);
        while (runs()) {
            for (int at = 0; at < per_s / 50; at++) {
                sink = ByteBuffer.allocateDirect(KIB * KIB);
            }
            Thread.sleep(20);
        }
    }

    /** Makes arrays of so many KiB. */
    private static void large(int kib) throws InterruptedException {
        keep(20);
        while (runs()) {
            for (int at = 0; at < 10; at++) {
                byte[] bytes = new byte[kib * KIB];
                bytes[at] = 1;
                sink = bytes;
            }
            Thread.sleep(10);
        }
    }

    /** Makes garbage with so many threads as fast as it can. */
    private static void churn(int threads) throws InterruptedException {
        keep(9);
        for (int thread = 0; thread < threads; thread++) {
            start(() -> {
                while (runs()) {
                    garbage(KIB);
                }
            });
        }
        while (runs()) {
            Thread.sleep(10);
        }
    }

    /** Makes so many thousand objects with finalizers each second. */
    private static void finalizers(int thousands) throws InterruptedException {
        while (runs()) {
            for (int at = 0; at < thousands * 10; at++) {
                sink = new Finalized();
            }
            Thread.sleep(10);
        }
    }

    /** Keeps so many thousand equal strings, which change. */
    private static void strings(int thousands) throws InterruptedException {
        String[] kept = new String[thousands * 1_000];
        int next = 0;
        while (runs()) {
            for (int at = 0; at < 20_000; at++) {
                kept[next] = new String(("a text of which there are many, " + at % 100).toCharArray());
                next = (next + 1) % kept.length;
            }
            Thread.sleep(1);
        }
        sink = kept;
    }

    /** Has so many threads that stand deep in calls. */
    private static void threads(int count) throws InterruptedException {
        for (int thread = 0; thread < count; thread++) {
            start(() -> deep(1_500, new Object()));
        }
        Thread.sleep(1_000);
        while (runs()) {
            garbage(KIB);
            Thread.sleep(5);
        }
    }

    private static int deep(int depth, Object kept) {
        if (depth == 0) {
            try {
                Thread.sleep(1_000_000);
            } catch (InterruptedException e) {
                return 0;
            }
        }
        Object mine = new Object();
        return deep(depth - 1, mine) + mine.hashCode() + kept.hashCode();
    }

    /** Has a thread that counts without a safepoint, so many million steps at once. */
    private static void loop(int millions) throws InterruptedException {
        keep(8);
        int[] cells = new int[1_000];
        start(() -> {
            int sum = 0;
            while (runs()) {
                for (int at = 0; at < millions * 1_000_000; at++) {
                    sum += cells[at % 1_000] ^ at;
                    cells[sum & 511] = at;
                }
            }
            sink = sum;
        });
        while (runs()) {
            garbage(KIB);
            Thread.sleep(5);
        }
    }

    /** Dumps all threads again and again. */
    private static void dumps() throws InterruptedException {
        for (int thread = 0; thread < 200; thread++) {
            start(() -> deep(200, new Object()));
        }
        while (runs()) {
            garbage(100);
            sink = ManagementFactory.getThreadMXBean().dumpAllThreads(false, false);
        }
    }

    /** Asks for a histogram of the heap every so many milliseconds. */
    private static void histograms(int ms) throws Exception {
        keep(20);
        ObjectName name = new ObjectName("com.sun.management:type=DiagnosticCommand");
        Object[] arguments = {new String[0]};
        String[] signature = {String[].class.getName()};
        while (runs()) {
            garbage(KIB);
            sink = ManagementFactory.getPlatformMBeanServer().invoke(name, "gcClassHistogram", arguments, signature);
            Thread.sleep(ms);
        }
    }

    /** Compresses in so many threads, which holds arrays in critical sections. */
    private static void critical(int threads) throws InterruptedException {
        for (int thread = 0; thread < threads; thread++) {
            start(() -> {
                byte[] from = new byte[4 << 20];
                new Random(3).nextBytes(from);
                byte[] to = new byte[8 << 20];
                while (runs()) {
                    Deflater deflater = new Deflater(9);
                    deflater.setInput(from);
                    deflater.finish();
                    deflater.deflate(to);
                    deflater.end();
                }
            });
        }
        while (runs()) {
            garbage(200);
            Thread.sleep(1);
        }
    }

    /** Keeps each object until so many MiB more were made. */
    private static void ring(int mib) throws InterruptedException {
        byte[][] ring = new byte[mib * KIB][];
        int next = 0;
        while (runs()) {
            for (int at = 0; at < KIB; at++) {
                ring[next] = new byte[KIB - 20];
                next = (next + 1) % ring.length;
            }
            Thread.sleep(3);
        }
    }

    private static void start(Runnable work) {
        Thread thread = new Thread(null, work, "planted", 4 << 20);
        thread.setDaemon(true);
        thread.start();
    }
}
