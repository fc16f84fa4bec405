import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Holds arrays and native memory of known content, and leaves behind what is dead: free regions of the heap, blocks that malloc keeps, and
 * a stack whose deep calls have returned. Answers each line with "right", or with what is wrong; "churn" allocates before.
 */
public class Audited {
    private static final int ARRAYS = 400;
    private static final int ARRAY_BYTES = 64 << 10;
    private static final int BUFFERS = 1500;
    private static final int BUFFER_BYTES = 16 << 10;
    private static final long GARBAGE_BYTES = 120L << 20;

    private static final List<byte[]> HELD = new ArrayList<>();
    private static final List<ByteBuffer> HELD_BUFFERS = new ArrayList<>();
    private static volatile Object sink;

    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < ARRAYS; i++) {
            byte[] array = new byte[ARRAY_BYTES];
            for (int at = 0; at < array.length; at++) {
                array[at] = content(i, at);
            }
            HELD.add(array);
        }
        buffers();
        Thread deep = new Thread(null, () -> { recurse(3000); sleep(); }, "deep", 16 << 20);
        deep.setDaemon(true);
        deep.start();
        churn();
        System.gc();
        Thread.sleep(200);
        System.gc();
        System.out.println("waiting");
        java.io.BufferedReader lines = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.equals("churn")) {
                churn();
            }
            System.out.println(audit());
        }
    }

    /** One buffer of eight is held, the others are given back. */
    private static void buffers() {
        List<ByteBuffer> dropped = new ArrayList<>();
        for (int i = 0; i < BUFFERS; i++) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
            for (int at = 0; at < BUFFER_BYTES; at++) {
                buffer.put(at, content(i, at));
            }
            (i / 64 % 8 == 0 ? HELD_BUFFERS : dropped).add(buffer);
        }
    }

    private static byte content(int index, int at) {
        return (byte) (index * 31 + at * 7);
    }

    private static void churn() {
        for (long bytes = 0; bytes < GARBAGE_BYTES; bytes += 16 << 10) {
            sink = new byte[16 << 10];
        }
        sink = null;
    }

    private static int recurse(int depth) {
        long a = depth, b = a * 3, c = b ^ a;
        return depth == 0 ? 0 : (int) (c & 1) + recurse(depth - 1);
    }

    private static void sleep() {
        try {
            Thread.sleep(Long.MAX_VALUE);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static String audit() {
        for (int i = 0; i < ARRAYS; i++) {
            byte[] array = HELD.get(i);
            for (int at = 0; at < array.length; at++) {
                if (array[at] != content(i, at)) {
                    return "wrong: array " + i + " at " + at;
                }
            }
        }
        int held = 0;
        for (int i = 0; i < BUFFERS; i++) {
            if (i / 64 % 8 == 0) {
                ByteBuffer buffer = HELD_BUFFERS.get(held++);
                for (int at = 0; at < BUFFER_BYTES; at++) {
                    if (buffer.get(at) != content(i, at)) {
                        return "wrong: buffer " + i + " at " + at;
                    }
                }
            }
        }
        return "right";
    }
}
