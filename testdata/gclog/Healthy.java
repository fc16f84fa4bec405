import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.Random;

/**
 * A program that is well: its live set is built at the start and stays as large, a small part of the heap; it allocates garbage at
 * an even rate that collectors keep up with; it asks for no collection.
 *
 * <p>Arguments: live set in megabytes, garbage in megabytes a second, seconds, seed. Prints the share of the time, percent, that
 * the JVM's beans say its collections stopped it for.
 */
public final class Healthy {
    private static final int SIZE_MAX = 8_192;
    private static final int STEPS_PER_S = 200;
    private static volatile Object sink;

    public static void main(String[] arguments) throws InterruptedException {
        long live = Long.parseLong(arguments[0]) << 20;
        long step = (Long.parseLong(arguments[1]) << 20) / STEPS_PER_S;
        long seconds = Long.parseLong(arguments[2]);
        Random random = new Random(Long.parseLong(arguments[3]));
        long begun = System.nanoTime();
        byte[][] kept = new byte[(int) (live / (SIZE_MAX / 2))][];
        for (int at = 0; at < kept.length; at++) {
            kept[at] = new byte[random.nextInt(SIZE_MAX)];
        }
        for (long number = 1; number <= seconds * STEPS_PER_S; number++) {
            for (long bytes = 0; bytes < step; ) {
                byte[] garbage = new byte[random.nextInt(SIZE_MAX)];
                bytes += garbage.length + 16;
                sink = garbage;
            }
            kept[random.nextInt(kept.length)] = new byte[random.nextInt(SIZE_MAX)];
            long ahead_ms = number * 1_000 / STEPS_PER_S - (System.nanoTime() - begun) / 1_000_000;
            if (0 < ahead_ms) {
                Thread.sleep(ahead_ms);
            }
        }
        long paused_ms = 0;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            // What runs beside the application stops nothing.
            boolean isBeside = collector.getName().contains("Cycles") || collector.getName().contains("Concurrent");
            paused_ms += isBeside ? 0 : Math.max(0, collector.getCollectionTime());
        }
        System.out.println(100.0 * paused_ms / ((System.nanoTime() - begun) / 1e6));
    }
}
