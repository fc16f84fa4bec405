// Started by tests: keeps 32 MiB of arrays and some threads alive, says "waiting", and ends when its input is closed.
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

public class Waiting {
    public static void main(String[] arguments) throws Exception {
        List<byte[]> kept = new ArrayList<>();
        for (int i = 0; i < 32; i++) {
            kept.add(new byte[1 << 20]);
        }
        CountDownLatch started = new CountDownLatch(12);
        for (int i = 0; i < 12; i++) {
            Thread thread = new Thread(() -> {
                started.countDown();
                try {
                    Thread.sleep(Long.MAX_VALUE);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            thread.setDaemon(true);
            thread.start();
        }
        started.await();
        System.out.println("waiting");
        System.out.flush();
        System.in.read();
        System.out.println(kept.size());
    }
}
