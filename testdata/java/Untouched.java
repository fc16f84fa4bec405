// Started by tests: has memory that it never touched, 64 MiB of a mapped file (-Dmapped=PATH) and 64 MiB of malloc, and a
// page that it touched of another file (PATH.touched); says "waiting", and ends when its input is closed.
import java.io.RandomAccessFile;
import java.lang.reflect.Field;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;

public class Untouched {
    private static final int BYTES = 64 << 20;

    public static void main(String[] arguments) throws Exception {
        Field field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        long block = ((sun.misc.Unsafe) field.get(null)).allocateMemory(BYTES);
        try (RandomAccessFile file = new RandomAccessFile(System.getProperty("mapped"), "rw")) {
            file.setLength(BYTES);
            MappedByteBuffer mapped = file.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, BYTES);
            MappedByteBuffer touched = page(System.getProperty("mapped") + ".touched");
            System.out.println("waiting");
            System.out.flush();
            System.in.read();
            System.out.println(block + mapped.capacity() + touched.capacity());
        }
    }

    private static MappedByteBuffer page(String path) throws Exception {
        try (RandomAccessFile file = new RandomAccessFile(path, "rw")) {
            file.write(7);
            file.setLength(4096);
            MappedByteBuffer page = file.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, 4096);
            page.get(0);
            return page;
        }
    }
}
