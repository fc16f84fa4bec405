// Started by tests: makes garbage for some seconds, with a live set that passes through the generations, until its collector has
// collected some times; then asks for one more, waits until nothing collects, and prints what the JVM itself counts of each collector:
// name, collections, milliseconds. Says "waiting", and ends when its input is closed.
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;

public class Collected {
    private static final int ROUNDS = 40_000;
    private static final int LIVE = 30_000;

    public static void main(String[] arguments) throws Exception {
        boolean collects = !Boolean.getBoolean("never");
        Object[] live = new Object[LIVE];
        int rounds = collects ? ROUNDS : 100;
        for (int i = 0; i < rounds; i++) {
            for (int at = 0; at < 100; at++) {
                live[(i * 101 + at * 7919) % LIVE] = new byte[200 + at * 10];
            }
        }
        if (collects) {
            System.gc();
        }
        String last = "";
        for (int alike = 0; alike < 10; ) {
            Thread.sleep(100);
            String next = counted();
            alike = next.equals(last) ? alike + 1 : 0;
            last = next;
        }
        System.out.print(last);
        System.out.println("waiting");
        System.out.flush();
        System.in.read();
        System.out.println(live.length);
    }

    private static String counted() {
        StringBuilder text = new StringBuilder();
        List<GarbageCollectorMXBean> collectors = ManagementFactory.getGarbageCollectorMXBeans();
        for (GarbageCollectorMXBean collector : collectors) {
            text.append("collector\t").append(collector.getName());
            text.append('\t').append(collector.getCollectionCount());
            text.append('\t').append(collector.getCollectionTime()).append('\n');
        }
        return text.toString();
    }
}
