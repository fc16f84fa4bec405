import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.zip.Deflater;

/** Fills malloc from several threads, gives most of it back, says "ready", and waits until its input ends. */
public class Buffers {
    public static void main(String[] arguments) throws Exception {
        int count = Integer.parseInt(arguments[0]);
        List<ByteBuffer> kept = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            int seed = t;
            threads.add(new Thread(() -> fill(new Random(seed), count, kept)));
        }
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        for (int i = 0; i < 3; i++) {
            System.gc();
            Thread.sleep(300);
        }
        System.out.println("ready");
        while (System.in.read() != -1) { }
        System.out.println(kept.size());
    }

    private static void fill(Random random, int count, List<ByteBuffer> kept) {
        List<ByteBuffer> dropped = new ArrayList<>();
        byte[] text = new byte[1 << 12];
        for (int i = 0; i < count; i++) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(64 << random.nextInt(11));
            if (i % 20 == 0) {
                synchronized (kept) {
                    kept.add(buffer);
                }
            } else {
                dropped.add(buffer);
            }
            if (i % 50 == 0) {
                Deflater deflater = new Deflater();
                deflater.setInput(text);
                deflater.finish();
                deflater.deflate(new byte[1 << 12]);
                deflater.end();
            }
        }
    }
}
