// Started by tests: holds native memory in ways that ask for different advice, prints `WAY BYTES` for each, says "waiting", and then does
// nothing. With -Dhandles=LIBRARY (testdata/linux/handles.c) also memory to which native code gave it buffers as handles.
import java.io.File;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.zip.Inflater;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

public class Buffering {
    static final int COUNT = 20;
    static final int BYTES = 1 << 20;

    static class Registry {
        static final List<ByteBuffer> BUFFERS = new ArrayList<>();
    }

    static class Connection {
        ByteBuffer handle;
    }

    static class Reader {
        final List<Inflater> inflaters = new ArrayList<>();
    }

    static final List<Object> KEPT = new ArrayList<>();

    /** Memory of so many blocks of so many bytes, which lead to one another, behind a buffer of eight bytes. */
    static native ByteBuffer handle(int blocks, int bytes);

    /** A reference of native code to an object, which it never deletes. */
    static native void keep(Object object);

    /** Buffers that native code alone keeps. */
    static void keepByReference() {
        List<ByteBuffer> buffers = new ArrayList<>();
        for (int i = 0; i < COUNT; i++) {
            buffers.add(ByteBuffer.allocateDirect(BYTES));
        }
        keep(buffers);
        System.out.println("native " + (long) COUNT * BYTES);
    }

    /** Threads that have read a file through heap buffers, and live on. */
    static void read(File file) throws Exception {
        CountDownLatch done = new CountDownLatch(COUNT);
        FileChannel channel = FileChannel.open(file.toPath(), StandardOpenOption.READ);
        for (int i = 0; i < COUNT; i++) {
            Thread thread = new Thread(() -> {
                try {
                    channel.read(ByteBuffer.allocate(BYTES), 0);
                    done.countDown();
                    Thread.sleep(Long.MAX_VALUE);
                } catch (Exception e) {
                    Thread.currentThread().interrupt();
                }
            });
            thread.setDaemon(true);
            thread.start();
        }
        done.await();
        System.out.println("threads " + (long) COUNT * BYTES);
    }

    /** Jars that were read from, and stay open. */
    static void open(File zip) throws Exception {
        try (ZipOutputStream out = new ZipOutputStream(new FileOutputStream(zip))) {
            out.putNextEntry(new ZipEntry("entry"));
            out.write(new byte[10_000]);
            out.closeEntry();
        }
        for (int i = 0; i < COUNT; i++) {
            ZipFile file = new ZipFile(zip);
            try (InputStream in = file.getInputStream(file.getEntry("entry"))) {
                while (0 <= in.read(new byte[4096])) {
                    continue;
                }
            }
            KEPT.add(file);
        }
    }

    /** Inflaters of the program, in use. */
    static void inflate() throws Exception {
        Reader reader = new Reader();
        for (int i = 0; i < COUNT; i++) {
            Inflater inflater = new Inflater();
            inflater.setInput(new byte[] {0x78, (byte) 0x9c, 3});
            inflater.inflate(new byte[10]);
            reader.inflaters.add(inflater);
        }
        KEPT.add(reader);
    }

    static void drop() {
        for (int i = 0; i < COUNT; i++) {
            ByteBuffer.allocateDirect(BYTES);
        }
    }

    public static void main(String[] arguments) throws Exception {
        File file = File.createTempFile("buffering", ".bin");
        try (FileOutputStream out = new FileOutputStream(file)) {
            out.write(new byte[BYTES]);
        }
        read(file);
        open(file);
        inflate();
        if (!file.delete()) {
            throw new IllegalStateException(file + " stays");
        }
        String handles = System.getProperty("handles");
        if (handles != null) {
            System.load(handles);
            for (int i = 0; i < COUNT; i++) {
                Connection connection = new Connection();
                connection.handle = handle(50, 20_000);
                KEPT.add(connection);
            }
            System.out.println("handles " + (long) COUNT * 50 * 20_000);
        }
        // Nothing is collected from here on.
        System.gc();
        for (int i = 0; i < COUNT; i++) {
            Registry.BUFFERS.add(ByteBuffer.allocateDirect(BYTES));
        }
        drop();
        List<ByteBuffer> local = new ArrayList<>();
        for (int i = 0; i < COUNT; i++) {
            local.add(ByteBuffer.allocateDirect(BYTES));
        }
        if (handles != null && Boolean.getBoolean("references")) {
            keepByReference();
        }
        System.out.println("kept " + (long) COUNT * BYTES);
        System.out.println("dropped " + (long) COUNT * BYTES);
        System.out.println("local " + (long) COUNT * BYTES);
        System.out.println("waiting");
        System.out.flush();
        System.in.read();
        System.out.println(KEPT.size() + local.size());
    }
}
