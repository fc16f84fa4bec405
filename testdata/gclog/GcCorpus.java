import com.sun.management.GarbageCollectionNotificationInfo;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.zip.Deflater;
import javax.management.NotificationEmitter;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/**
 * Makes collectors do what they do in service and in trouble, and writes down what the JVM itself says of it while its GC logs are
 * written: every notification of the management interface, and every collection, pause, heap summary and stall of the flight
 * recorder.
 *
 * <p>Arguments: file for the truth (JSON), scenario, megabytes to allocate.
 */
public final class GcCorpus {
    private static final String[] RECORDED = {
        "jdk.GarbageCollection", "jdk.GCPhasePause", "jdk.GCHeapSummary", "jdk.ZAllocationStall", "jdk.EvacuationFailed"
    };

    private final List<String> notifications = new ArrayList<>();
    private final Set<String> heapPools = ManagementFactory.getMemoryPoolMXBeans().stream()
            .filter(pool -> pool.getType() == MemoryType.HEAP)
            .map(MemoryPoolMXBean::getName)
            .collect(Collectors.toUnmodifiableSet());
    private final Random random = new Random(1);
    private volatile Object sink;

    public static void main(String[] arguments) throws Exception {
        Locale.setDefault(Locale.ROOT);
        new GcCorpus().run(Path.of(arguments[0]), arguments[1], Long.parseLong(arguments[2]) << 20);
    }

    private void run(Path truth, String scenario, long bytes) throws Exception {
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            ((NotificationEmitter) collector).addNotificationListener((notification, handback) ->
                    collected(GarbageCollectionNotificationInfo.from((CompositeData) notification.getUserData())),
                    null, null);
        }
        Recording recording = new Recording();
        for (String event : RECORDED) {
            recording.enable(event).withoutThreshold().withoutStackTrace();
        }
        recording.start();
        play(scenario, bytes);
        // Notifications come from a thread of their own.
        Thread.sleep(200);
        recording.stop();
        Path file = Files.createTempFile("corpus", ".jfr");
        recording.dump(file);
        Files.writeString(truth, json(scenario, RecordingFile.readAllEvents(file)));
        Files.delete(file);
    }

    private void play(String scenario, long bytes) throws Exception {
        switch (scenario) {
            case "normal", "killed", "async", "restart" -> {
                churn(bytes, 4_000);
                System.gc();
            }
            case "full" -> {
                for (int i = 0; i < 5; i++) {
                    churn(bytes / 5, 2_000);
                    System.gc();
                }
            }
            case "humongous" -> humongous(bytes);
            case "evacuation-failure" -> surge(bytes);
            case "degenerated", "passive", "stall" -> manyThreads(() -> churn(bytes / 4, 1_000));
            case "out-of-memory" -> {
                exhaust();
                exhaust();
            }
            case "metaspace" -> metaspace();
            case "locker" -> manyThreads(() -> pack(bytes / 4));
            case "concurrent" -> {
                Object[] live = new Object[12_000];
                for (int i = 0; i < live.length; i++) {
                    live[i] = new byte[2_000];
                }
                churn(bytes / 2, 4_000);
                System.gc();
                histogram();
                churn(bytes / 2, 4_000);
                System.gc();
                sink = live;
            }
            // What a collector without collections can hold.
            case "epsilon" -> churn(bytes, 100);
            default -> throw new IllegalArgumentException(scenario);
        }
    }

    /** Allocates so many bytes in arrays of 2 KB on average, of which the given number live. */
    private void churn(long bytes, int live) {
        Random sizes = new Random(live);
        Object[] held = new Object[live];
        for (long made = 0; made < bytes; ) {
            byte[] array = new byte[16 + sizes.nextInt(4_096)];
            made += array.length;
            held[sizes.nextInt(live)] = array;
        }
        sink = held;
    }

    /** Arrays larger than half a region, between small ones. */
    private void humongous(long bytes) {
        byte[][] held = new byte[8][];
        for (long made = 0; made < bytes; ) {
            byte[] array = new byte[700_000 + random.nextInt(1_500_000)];
            held[random.nextInt(held.length)] = array;
            made += array.length;
            churn(1 << 20, 100);
        }
        System.gc();
    }

    /** Again and again, all that is allocated survives until the heap is nearly full. */
    private void surge(long bytes) {
        long room = Runtime.getRuntime().maxMemory();
        Deque<byte[]> held = new ArrayDeque<>();
        long heldBytes = 0;
        for (long made = 0; made < bytes; made += 2_064) {
            held.add(new byte[2_048]);
            heldBytes += 2_064;
            if (heldBytes > room * 0.86) {
                while (heldBytes > room * 0.25) {
                    held.remove();
                    heldBytes -= 2_064;
                }
            }
        }
        sink = held;
    }

    private static void manyThreads(Runnable work) throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Thread thread = new Thread(() -> {
                try {
                    work.run();
                } catch (OutOfMemoryError e) {
                    // A tight heap is what some scenarios are about.
                }
            }, "worker " + i + " (of 4)");
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private void exhaust() {
        try {
            Deque<byte[]> held = new ArrayDeque<>();
            while (true) {
                held.add(new byte[100_000]);
                sink = held;
            }
        } catch (OutOfMemoryError expected) {
            sink = null;
        }
    }

    /** Classes of loaders that are soon gone. */
    private void metaspace() {
        for (int i = 0; i < 6_000; i++) {
            ClassLoader loader = new ClassLoader(GcCorpus.class.getClassLoader()) {};
            sink = Proxy.newProxyInstance(loader, new Class<?>[] {Consumer.class}, (proxy, method, arguments) -> null);
        }
    }

    /** Packing reads and writes arrays in JNI critical sections, which hold up the collectors that cannot pin. */
    private void pack(long bytes) {
        byte[] text = new byte[256 << 10];
        new Random(1).nextBytes(text);
        for (long made = 0; made < bytes; ) {
            Deflater deflater = new Deflater(1);
            deflater.setInput(text);
            deflater.finish();
            byte[] packed = new byte[300 << 10];
            made += deflater.deflate(packed);
            deflater.end();
            churn(256 << 10, 100);
        }
    }

    /** A collection for a look into the heap. */
    private static void histogram() throws Exception {
        ManagementFactory.getPlatformMBeanServer().invoke(
                new ObjectName("com.sun.management:type=DiagnosticCommand"), "gcClassHistogram",
                new Object[] {new String[0]}, new String[] {String[].class.getName()});
    }

    private synchronized void collected(GarbageCollectionNotificationInfo event) {
        var info = event.getGcInfo();
        notifications.add(String.format(
                "{\"bean\":\"%s\",\"action\":\"%s\",\"cause\":\"%s\",\"number\":%d,\"start_ms\":%d,\"end_ms\":%d,"
                        + "\"duration_ms\":%d,\"before_bytes\":%d,\"after_bytes\":%d,\"committed_bytes\":%d,"
                        + "\"pools\":{%s}}",
                event.getGcName(), event.getGcAction(), event.getGcCause(), info.getId(), info.getStartTime(),
                info.getEndTime(), info.getDuration(),
                heap(info.getMemoryUsageBeforeGc()), heap(info.getMemoryUsageAfterGc()),
                info.getMemoryUsageAfterGc().entrySet().stream().filter(pool -> heapPools.contains(pool.getKey()))
                        .mapToLong(pool -> pool.getValue().getCommitted()).sum(),
                info.getMemoryUsageAfterGc().keySet().stream().filter(heapPools::contains).sorted()
                        .map(pool -> String.format("\"%s\":[%d,%d]", pool,
                                info.getMemoryUsageBeforeGc().get(pool).getUsed(),
                                info.getMemoryUsageAfterGc().get(pool).getUsed()))
                        .collect(Collectors.joining(","))));
    }

    private long heap(Map<String, MemoryUsage> byPool) {
        return byPool.entrySet().stream()
                .filter(pool -> heapPools.contains(pool.getKey()))
                .mapToLong(pool -> pool.getValue().getUsed())
                .sum();
    }

    private synchronized String json(String scenario, List<RecordedEvent> events) {
        return String.format(
                "{\"java\":\"%s\",\"scenario\":\"%s\",%n\"notifications\":[%n%s],%n\"collections\":[%n%s],%n"
                        + "\"pauses\":[%n%s],%n\"heap\":[%n%s],%n\"stalls\":[%n%s],%n\"evacuations_failed\":[%s]}%n",
                System.getProperty("java.vm.version"), scenario, String.join(",\n", notifications),
                list(events, "jdk.GarbageCollection", e -> String.format(
                        "{\"id\":%d,\"name\":\"%s\",\"cause\":\"%s\",\"duration_ns\":%d,\"pauses_ns\":%d,\"longest_ns\":%d}",
                        e.getInt("gcId"), e.getString("name"), e.getString("cause"), e.getDuration().toNanos(),
                        e.getDuration("sumOfPauses").toNanos(), e.getDuration("longestPause").toNanos())),
                list(events, "jdk.GCPhasePause", e -> String.format("{\"id\":%d,\"name\":\"%s\",\"duration_ns\":%d}",
                        e.getInt("gcId"), e.getString("name"), e.getDuration().toNanos())),
                list(events, "jdk.GCHeapSummary", e -> String.format("{\"id\":%d,\"when\":\"%s\",\"used_bytes\":%d}",
                        e.getInt("gcId"), e.getString("when"), e.getLong("heapUsed"))),
                list(events, "jdk.ZAllocationStall", e -> String.format("{\"size_bytes\":%d,\"duration_ns\":%d}",
                        e.getLong("size"), e.getDuration().toNanos())),
                list(events, "jdk.EvacuationFailed", e -> Integer.toString(e.getInt("gcId"))));
    }

    private static String list(List<RecordedEvent> events, String type, java.util.function.Function<RecordedEvent, String> row) {
        return events.stream().filter(e -> e.getEventType().getName().equals(type)).map(row)
                .collect(Collectors.joining(",\n"));
    }
}
