import com.sun.management.GarbageCollectionNotificationInfo;
import com.sun.management.GcInfo;
import com.sun.management.ThreadMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.management.NotificationEmitter;
import javax.management.openmbean.CompositeData;

/**
 * Serves a known number of requests that allocate a known number of bytes each, and writes down what the JVM's own
 * management interface says of every collection: the truth that the GC log of the same run is held against.
 *
 * <p>Arguments: file for the truth (JSON), number of requests.
 */
public final class GcTruth {
    private static final int LIVE_REQUESTS = 64;

    private final List<String> collections = new ArrayList<>();
    private final CountDownLatch lastCollection = new CountDownLatch(1);
    private final Set<String> heapPools = ManagementFactory.getMemoryPoolMXBeans().stream()
            .filter(pool -> pool.getType() == MemoryType.HEAP)
            .map(MemoryPoolMXBean::getName)
            .collect(Collectors.toUnmodifiableSet());
    /** What the last requests left behind: a live set of constant size that passes through the generations. */
    private final byte[][][] sessions = new byte[LIVE_REQUESTS][][];

    public static void main(String[] arguments) throws Exception {
        new GcTruth().run(Path.of(arguments[0]), Integer.parseInt(arguments[1]));
    }

    private void run(Path truth, int requests) throws Exception {
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            ((NotificationEmitter) collector).addNotificationListener((notification, handback) ->
                    collected(GarbageCollectionNotificationInfo.from((CompositeData) notification.getUserData())),
                    null, null);
        }
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long thread = Thread.currentThread().getId();
        long allocatedBefore = threads.getThreadAllocatedBytes(thread);
        long[] ends = new long[requests + 1];
        ends[0] = System.nanoTime();
        for (int request = 1; request <= requests; request++) {
            serve(request);
            ends[request] = System.nanoTime();
        }
        long allocated = threads.getThreadAllocatedBytes(thread) - allocatedBefore;
        System.gc();
        if (!lastCollection.await(30, TimeUnit.SECONDS)) {
            throw new IllegalStateException("no notification of the last collection");
        }
        Files.writeString(truth, json(requests, allocated, ends));
    }

    /** About 100 KB: a tenth stays until the 64th request after this one. */
    private void serve(int request) {
        byte[][] session = new byte[10][];
        for (int i = 0; i < 100; i++) {
            byte[] bytes = new byte[900 + (request * 31 + i * 17) % 200];
            session[i % session.length] = bytes;
        }
        sessions[request % LIVE_REQUESTS] = session;
    }

    private synchronized void collected(GarbageCollectionNotificationInfo event) {
        GcInfo info = event.getGcInfo();
        collections.add(String.format(
                "{\"collector\":\"%s\",\"action\":\"%s\",\"cause\":\"%s\",\"duration_ms\":%d,"
                        + "\"before_bytes\":%d,\"after_bytes\":%d}",
                event.getGcName(), event.getGcAction(), event.getGcCause(), info.getDuration(),
                heapBytes(info.getMemoryUsageBeforeGc()), heapBytes(info.getMemoryUsageAfterGc())));
        // Parallel begins System.gc() with a young collection of that cause.
        if (event.getGcCause().equals("System.gc()") && event.getGcAction().equals("end of major GC")) {
            lastCollection.countDown();
        }
    }

    private long heapBytes(Map<String, MemoryUsage> byPool) {
        return byPool.entrySet().stream()
                .filter(pool -> heapPools.contains(pool.getKey()))
                .mapToLong(pool -> pool.getValue().getUsed())
                .sum();
    }

    private synchronized String json(int requests, long allocated, long[] ends) {
        String lengths = IntStream.rangeClosed(1, requests)
                .mapToObj(request -> Long.toString(ends[request] - ends[request - 1]))
                .collect(Collectors.joining(","));
        return String.format(
                "{\"java\":\"%s\",\"requests\":%d,\"allocated_bytes\":%d,%n\"collections\":[%n%s],%n"
                        + "\"first_request_monotonic_ns\":%d,%n\"request_lengths_ns\":[%s]}%n",
                System.getProperty("java.vm.version"), requests, allocated,
                String.join(",\n", collections), ends[0], lengths);
    }
}
