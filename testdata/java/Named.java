// Started by tests: threads with unusual names; says "waiting", and ends when its input is closed.
import java.util.List;
import java.util.concurrent.CountDownLatch;

public class Named {
    static final List<String> NAMES = List.of(
            "Th\u00e9 caf\u00e9", "\u7dda\u7a0b \ud83d\ude80", "a name that is longer than what the kernel keeps", "x".repeat(3000));

    public static void main(String[] arguments) throws Exception {
        CountDownLatch started = new CountDownLatch(NAMES.size());
        for (String name : NAMES) {
            Thread thread = new Thread(() -> {
                started.countDown();
                try {
                    Thread.sleep(Long.MAX_VALUE);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }, name);
            thread.setDaemon(true);
            thread.start();
        }
        started.await();
        System.out.println("waiting");
        System.out.flush();
        System.in.read();
    }
}
