// Started by tests: grows and shrinks its memory as fast as it can, on and off the heap, until its input is closed.
import java.nio.ByteBuffer;
import java.util.zip.Deflater;

public class Churning {
    static volatile Object sink;

    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < 2; i++) {
            Thread thread = new Thread(Churning::churn);
            thread.setDaemon(true);
            thread.start();
        }
        System.out.println("waiting");
        System.out.flush();
        System.in.read();
    }

    private static void churn() {
        byte[] text = new byte[64 << 10];
        for (int i = 0; ; i++) {
            sink = new byte[1 << (i % 20)];
            if (i % 64 == 0) {
                sink = ByteBuffer.allocateDirect(256 << 10);
                Deflater deflater = new Deflater();
                deflater.setInput(text);
                deflater.finish();
                deflater.deflate(new byte[128]);
                deflater.end();
                Thread thread = new Thread(() -> sink = new byte[4096]);
                thread.start();
            }
        }
    }
}
