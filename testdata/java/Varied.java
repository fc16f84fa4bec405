// Started by tests: a heap of everything that heaps have. Says "waiting", and ends when its input is closed.
//
// Every run makes the same objects of its own classes, in every mode. `java -Dscale=0 Varied` makes a tiny heap.
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.lang.reflect.Proxy;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.regex.Pattern;

public class Varied {
    // Hierarchies with holes: what a class leaves free, a class below may fill, by rules that differ between releases.
    static class Empty { }
    static class OneByte { byte b; }
    static class OneShort extends OneByte { short s; }
    static class OneInt extends OneShort { int i; }
    static class OneLong extends OneInt { long l; }
    static class ThenByte extends OneLong { byte last; }
    static class Reference { Object r; }
    static class ReferenceThenInt extends Reference { int i; Object r2; long l; }
    static class ReferenceThenBytes extends ReferenceThenInt { boolean a; boolean b; Object r3; }
    static class IntThenLong { int i; long l; }
    static class Below extends IntThenLong { Object r; short s; }
    static class FarBelow extends Below { double d; Object r; char c; float f; boolean z; }
    static class ByteAndReference { byte b; Object r; }
    static class ByteAndReferenceThenLong extends ByteAndReference { long l; byte b2; Object r2; }
    static class Wide { long a, b, c; double d; int e, f; float g; short h, i; char j; byte k, l, m; boolean n; Object o, p, q; }
    static class WideThenMany extends Wide { Object r1, r2, r3, r4, r5; byte b1, b2, b3, b4, b5; }
    static class ManyBytes { byte b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13; }
    static class ManyBytesThenReference extends ManyBytes { Object r; }
    static class WithStatics {
        static long staticLong = 1; static byte staticByte = 2; static Object staticObject = "x"; static String[] names = {"a"};
        static boolean flag = true; static double number = 0.5; static final char LETTER = 'x'; int own;
    }
    static class Inner { class Innermost { int i; } Innermost innermost = new Innermost(); }
    static class MyThread extends Thread { long own; byte b; MyThread(Runnable r) { super(r); } }
    static class MyLoader extends URLClassLoader { int own; MyLoader(URL[] urls) { super(urls, null); } }
    static class MyError extends InternalError { byte b; Object r; }
    static class MyFuture extends CompletableFuture<String> { byte b; }
    static class MyTask extends RecursiveTask<Integer> { byte b; protected Integer compute() { return 1; } }
    static class MyMap extends HashMap<String, Object> { boolean b; long l; }
    static class MyReference extends WeakReference<Object> { byte b; int i; MyReference(Object o) { super(o); } }
    record Point(int x, int y) { }
    record Named(String name, long number, boolean flag) { }
    record Wrapped<T>(T value, byte kind) { }
    enum Colour { RED, GREEN { int own = 1; }, BLUE }
    interface Speaks { String speak(); }

    static final List<Object> KEPT = new ArrayList<>();
    static int scale = 1000;

    public static void main(String[] arguments) throws Exception {
        scale = Integer.getInteger("scale", 1000);
        if (scale > 0) {
            own();
            arrays();
            collections();
            library();
            virtualMachine();
            threads();
        }
        System.out.println("waiting");
        System.out.flush();
        System.in.read();
        System.out.println(KEPT.size());
    }

    static void keep(int count, IntFunction<Object> make) {
        Object[] made = new Object[count];
        for (int i = 0; i < count; i++) {
            made[i] = make.apply(i);
        }
        KEPT.add(made);
    }

    static void own() {
        List<Supplier<Object>> makers = List.of(Empty::new, OneByte::new, OneShort::new, OneInt::new, OneLong::new,
            ThenByte::new, Reference::new, ReferenceThenInt::new, ReferenceThenBytes::new, IntThenLong::new, Below::new,
            FarBelow::new, ByteAndReference::new, ByteAndReferenceThenLong::new, Wide::new, WideThenMany::new,
            ManyBytes::new, ManyBytesThenReference::new, WithStatics::new, Inner::new, MyError::new, MyFuture::new,
            MyTask::new, MyMap::new);
        int count = scale;
        for (Supplier<Object> maker : makers) {
            keep(count++, i -> maker.get());
        }
        keep(scale, i -> new Point(i, -i));
        keep(scale, i -> new Named("name " + i, i, i % 2 == 0));
        keep(scale, i -> new Wrapped<>(i % 3 == 0 ? null : new Point(i, i), (byte) i));
        keep(scale, i -> new MyReference(KEPT));
        KEPT.add(Colour.values());
        KEPT.add(new EnumMap<>(Map.of(Colour.RED, "red")));
        KEPT.add(EnumSet.allOf(Colour.class));
    }

    static void arrays() {
        // Every length up to 40, then some around powers of two: alignment loses a different part of each.
        int[] lengths = java.util.stream.IntStream.concat(java.util.stream.IntStream.range(0, 41),
            java.util.stream.IntStream.of(63, 64, 65, 127, 128, 129, 1000, 4095, 4097)).toArray();
        for (int round = 0; round < 1 + scale / 100; round++) {
            for (int length : lengths) {
                KEPT.add(new boolean[length]);
                KEPT.add(new byte[length]);
                KEPT.add(new char[length]);
                KEPT.add(new short[length]);
                KEPT.add(new int[length]);
                KEPT.add(new long[length]);
                KEPT.add(new float[length]);
                KEPT.add(new double[length]);
                KEPT.add(new Object[length]);
                KEPT.add(new String[length]);
                KEPT.add(new Point[length]);
            }
            KEPT.add(new int[3][5]);
            KEPT.add(new Point[2][4][1]);
            KEPT.add(new byte[7][0]);
        }
    }

    static void collections() {
        keep(scale, i -> new ArrayList<>(List.of(i, i + 1)));
        keep(scale, i -> new LinkedList<>(List.of("a", "b", "c")));
        keep(scale, i -> new HashMap<>(Map.of("key " + i, (long) i)));
        keep(scale, i -> new LinkedHashMap<>(Map.of(i, "v")));
        keep(scale, i -> new TreeMap<>(Map.of("k" + i, (double) i)));
        keep(scale, i -> new ArrayDeque<>(List.of((short) i)));
        keep(scale, i -> new PriorityQueue<>(List.of((char) i)));
        keep(scale, i -> new HashSet<>(List.of((float) i)));
        keep(scale, i -> List.of(i, i));
        keep(scale, i -> List.of(i));
        keep(scale, i -> Map.of("a", i, "b", i));
        keep(scale, i -> new BitSet(i));
        keep(scale, i -> new Object[] {Optional.of("o"), OptionalInt.of(i), new StringBuilder("sb" + i)});
        keep(scale, i -> new IdentityHashMap<>(Map.of(i, i)));
        keep(scale / 10, i -> new ConcurrentHashMap<>(Map.of("c" + i, "v")));
        keep(scale / 10, i -> new ConcurrentSkipListMap<>(Map.of("s" + i, "v")));
        keep(scale / 10, i -> new CopyOnWriteArrayList<>(List.of("w" + i)));
        keep(scale / 10, i -> new WeakHashMap<>(Map.of(KEPT.get(0), i)));
        keep(scale / 10, i -> Collections.unmodifiableList(new Vector<>(List.of(i))));
        keep(scale / 10, i -> new LinkedBlockingQueue<>(List.of(i)));
        keep(scale / 10, i -> new DelayQueue<>());
        Map<Integer, String> collided = new HashMap<>(); // one bucket: becomes a tree
        Map<Object, Object> tree = new HashMap<>();
        for (int i = 0; i < 50; i++) {
            collided.put(i << 20, "t" + i);
            tree.put(new SameHash(i), i);
        }
        KEPT.add(collided);
        KEPT.add(tree);
        Map<Object, Object> concurrentTree = new ConcurrentHashMap<>(tree);
        KEPT.add(concurrentTree);
    }

    record SameHash(int i) implements Comparable<SameHash> {
        public int hashCode() { return 7; }
        public int compareTo(SameHash other) { return Integer.compare(i, other.i); }
    }

    static void library() {
        LocalDateTime start = LocalDateTime.of(2024, 2, 29, 12, 30);
        keep(scale, i -> "latin " + i);
        keep(scale, i -> "gr\u00f6\u00dfer \u03b1\u03b2\u03b3 " + i);
        keep(scale, i -> BigInteger.valueOf(7).pow(i % 100));
        keep(scale, i -> new BigDecimal("12.5").multiply(BigDecimal.valueOf(i)));
        keep(scale, i -> start.plusMinutes(i));
        keep(scale / 10, i -> start.plusHours(i).atZone(ZoneId.of("Europe/Berlin")));
        keep(scale, i -> Duration.ofMillis(i));
        keep(scale, i -> new UUID(i, -i));
        keep(scale, i -> new Object[] {new AtomicInteger(i), new AtomicLong(i), new AtomicReference<>("r"), new AtomicBoolean()});
        keep(scale / 10, i -> new AtomicIntegerArray(i % 20));
        keep(scale / 10, i -> new Object[] {new LongAdder(), new DoubleAccumulator(Double::sum, 0)});
        keep(scale / 10, i -> new Object[] {new ReentrantLock(), new ReentrantReadWriteLock(), new StampedLock(), new Semaphore(3)});
        keep(scale / 10, i -> new Object[] {new CountDownLatch(1), new CyclicBarrier(2), new Phaser(), new Exchanger<>()});
        keep(scale / 10, i -> new Object[] {new Random(i), new SplittableRandom(i)});
        keep(scale / 10, i -> ByteBuffer.allocate(i));
        keep(scale / 100, i -> ByteBuffer.allocateDirect(16));
        keep(scale / 10, i -> Pattern.compile("a+(b|c)*[d-f]{2," + (2 + i) + "}"));
        keep(scale / 100, i -> Locale.forLanguageTag("de-CH-x-v" + (10000 + i % 1000)));
        keep(scale / 100, i -> Currency.getInstance("EUR"));
        KEPT.add(new java.util.zip.Inflater());
        KEPT.add(new java.util.zip.Deflater());
        KEPT.add(new java.util.zip.CRC32());
        KEPT.add(new java.text.SimpleDateFormat("yyyy-MM-dd", Locale.ROOT));
        KEPT.add(new java.text.DecimalFormat("#,##0.00"));
        KEPT.add(new Scanner("1 2 3"));
        KEPT.add(new Timer(true));
        KEPT.add(new Formatter());
    }

    static void virtualMachine() throws Exception {
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        keep(scale / 10, i -> {
            try {
                MethodHandle handle = lookup.findStatic(Varied.class, "keep",
                    MethodType.methodType(void.class, int.class, IntFunction.class));
                return MethodHandles.insertArguments(handle, 0, i);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        });
        VarHandle element = MethodHandles.arrayElementVarHandle(int[].class);
        KEPT.add(element);
        KEPT.add(MethodHandles.lookup().findVarHandle(IntThenLong.class, "l", long.class));
        // Frames that are kept have names that the virtual machine adds fields to.
        KEPT.add(StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE).walk(frames -> frames.toArray()));
        keep(scale / 10, i -> new Throwable("kept " + i));
        keep(scale / 10, i -> new StackTraceElement("a", "b", "c", i));
        keep(scale, i -> (Supplier<Integer>) () -> i);
        Object[] parts = {"a", 1L, (byte) 2};
        keep(scale, i -> (IntFunction<Object>) number -> parts[i % 3]);
        keep(scale / 10, i -> Proxy.newProxyInstance(Varied.class.getClassLoader(), new Class<?>[] {Speaks.class},
            (proxy, method, given) -> "proxy " + i));
        ReferenceQueue<Object> queue = new ReferenceQueue<>();
        keep(scale / 10, i -> new Object[] {new SoftReference<>(KEPT), new WeakReference<>(KEPT, queue),
            new PhantomReference<>(KEPT, queue)});
        keep(10, i -> ThreadLocal.withInitial(() -> 1));
        URL here = Varied.class.getProtectionDomain().getCodeSource().getLocation();
        for (int i = 0; i < 3; i++) {
            MyLoader loader = new MyLoader(new URL[] {here});
            KEPT.add(loader);
            // The same class of other loaders: a class of its own each.
            Class<?> again = loader.loadClass("Varied$ThenByte");
            var constructor = again.getDeclaredConstructor();
            constructor.setAccessible(true);
            keep(50 + i, n -> {
                try {
                    return constructor.newInstance();
                } catch (ReflectiveOperationException e) {
                    throw new IllegalStateException(e);
                }
            });
        }
        for (var method : Varied.class.getDeclaredMethods()) {
            KEPT.add(method);
        }
        KEPT.add(Varied.class.getDeclaredClasses());
        KEPT.add(Wide.class.getDeclaredFields());
        keep(20, i -> new java.lang.invoke.MutableCallSite(MethodType.methodType(void.class)));
    }

    static void threads() throws Exception {
        CountDownLatch started = new CountDownLatch(8);
        Runnable waits = () -> {
            started.countDown();
            try {
                Thread.sleep(Long.MAX_VALUE);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        };
        for (int i = 0; i < 8; i++) {
            Thread thread = i % 2 == 0 ? new Thread(waits) : new MyThread(waits);
            thread.setDaemon(true);
            thread.start();
        }
        started.await();
        keep(30, i -> new Thread(waits));
        keep(3, i -> new ForkJoinPool(2));
        KEPT.add(ForkJoinPool.commonPool().submit(() -> 1).get());
        KEPT.add(new ThreadPoolExecutor(1, 2, 1, TimeUnit.HOURS, new ArrayBlockingQueue<>(10)));
        KEPT.add(new ScheduledThreadPoolExecutor(1));
        KEPT.add(new SubmissionPublisher<String>());
        KEPT.add(new Thread[] {Thread.currentThread()});
        try {
            // JDK 21 and later: a virtual thread that has not begun, so that it has no stack yet.
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            var unstarted = Class.forName("java.lang.Thread$Builder").getMethod("unstarted", Runnable.class);
            keep(30, i -> {
                try {
                    return unstarted.invoke(builder, waits);
                } catch (ReflectiveOperationException e) {
                    throw new IllegalStateException(e);
                }
            });
        } catch (NoSuchMethodException | UnsupportedOperationException e) {
            KEPT.add("no virtual threads");
        }
    }
}
