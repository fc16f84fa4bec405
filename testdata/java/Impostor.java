// Started by tests: a thread that only calls itself like one of the JVM's; says "waiting", and ends when its input is closed.
import java.util.concurrent.CountDownLatch;

public class Impostor {
    public static void main(String[] arguments) throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        Thread thread = new Thread(() -> {
            started.countDown();
            try {
                Thread.sleep(Long.MAX_VALUE);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, "Signal Dispatcher");
        thread.setDaemon(true);
        thread.start();
        started.await();
        System.out.println("waiting");
        System.out.flush();
        System.in.read();
    }
}
