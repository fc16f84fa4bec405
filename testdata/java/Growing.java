// Started by tests: leaks in the way that the first argument names, by itself, twice a second until it is killed. About 60 MiB a minute.
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

public class Growing {
    static final int STEP_MS = 500;
    static final int BUFFER_BYTES = 64 << 10;

    interface Leak {
        void step(int number) throws Exception;
    }

    static class BufferPool {
        final Deque<ByteBuffer> free = new ArrayDeque<>();
    }

    static class DecoderRegistry {
        static final Map<Integer, Decoder> OPEN = new ConcurrentHashMap<>();
    }

    static class Decoder {
        final Inflater inflater = new Inflater();
    }

    static class Plugins {
        static final List<Class<?>> LOADED = new ArrayList<>();
    }

    static class PluginLoader extends ClassLoader {
        Class<?> define(byte[] code) {
            return defineClass("Growing$Plugin", code, 0, code.length);
        }
    }

    /** Each loader has one of its own. */
    public static class Plugin {
        final Map<String, Integer> counts = new HashMap<>();

        public Plugin() {
            count("made");
        }

        public void count(String what) {
            counts.merge(what, 1, Integer::sum);
        }
    }

    static class Index {
        static final List<MappedByteBuffer> SEGMENTS = new ArrayList<>();
    }

    static class QuoteCache {
        private static final Map<String, double[]> QUOTES = new ConcurrentHashMap<>();
    }

    static class Arenas {
        static final List<Object> OPEN = new ArrayList<>();
    }

    static class Mail implements Runnable {
        final byte[] content = new byte[2000];

        @Override
        public void run() {}
    }

    static final BufferPool POOL = new BufferPool();
    static final ThreadLocal<Map<Integer, char[]>> SESSION = ThreadLocal.withInitial(HashMap::new);

    /** A block that nobody frees. */
    static native void leak(int bytes);

    /** A reference of native code to an object, which it never deletes. */
    static native void keep(Object object);

    /** Blocks that are allocated one after the other, with a small one behind each, and freed but for these. */
    static native void churn(int blocks, int bytes);

    static ThreadFactory named(String name) {
        return work -> {
            Thread thread = new Thread(work, name);
            thread.setDaemon(true);
            return thread;
        };
    }

    static ByteBuffer buffer() {
        ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
        while (buffer.hasRemaining()) {
            buffer.put((byte) 1);
        }
        return buffer;
    }

    /** Waits for ever at this depth of calls. */
    static int waiting(int depth) throws InterruptedException {
        if (depth == 0) {
            new CountDownLatch(1).await();
        }
        return waiting(depth - 1) + depth;
    }

    static void start(String name, int depth) {
        named(name)
                .newThread(
                        () -> {
                            try {
                                waiting(depth);
                            } catch (InterruptedException e) {
                                Thread.currentThread().interrupt();
                            }
                        })
                .start();
    }

    static byte[] code(String file) throws Exception {
        try (InputStream in = Growing.class.getResourceAsStream(file)) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            for (int next = in.read(); 0 <= next; next = in.read()) {
                out.write(next);
            }
            return out.toByteArray();
        }
    }

    /** Data whose decoder has a window to keep. */
    static byte[] packed() {
        byte[] plain = new byte[60_000];
        for (int i = 0; i < plain.length; i++) {
            plain[i] = (byte) (i * i >> 7);
        }
        Deflater deflater = new Deflater();
        deflater.setInput(plain);
        deflater.finish();
        byte[] packed = new byte[70_000];
        return Arrays.copyOf(packed, deflater.deflate(packed));
    }

    static Leak of(String way) throws Exception {
        switch (way) {
            case "direct":
                return number -> {
                    for (int i = 0; i < 8; i++) {
                        POOL.free.add(buffer());
                    }
                };
            case "malloc":
                return number -> {
                    for (int i = 0; i < 128; i++) {
                        leak(4096);
                    }
                };
            case "inflaters":
                byte[] packed = packed();
                return number -> {
                    for (int i = 0; i < 14; i++) {
                        Decoder decoder = new Decoder();
                        decoder.inflater.setInput(packed);
                        decoder.inflater.inflate(new byte[50_000]);
                        DecoderRegistry.OPEN.put(DecoderRegistry.OPEN.size(), decoder);
                    }
                };
            case "loaders":
                byte[] code = code("Growing$Plugin.class");
                return number -> {
                    for (int i = 0; i < 50; i++) {
                        Class<?> plugin = new PluginLoader().define(code);
                        plugin.getDeclaredConstructor().newInstance();
                        Plugins.LOADED.add(plugin);
                    }
                };
            case "mapped":
                return number -> {
                    Path file = Files.createTempFile("segment", ".idx");
                    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                        MappedByteBuffer segment = channel.map(FileChannel.MapMode.READ_WRITE, 0, 512 << 10);
                        while (segment.hasRemaining()) {
                            segment.put((byte) 3);
                        }
                        Index.SEGMENTS.add(segment);
                    }
                };
            case "stacks":
                return number -> {
                    for (int i = 0; i < 3; i++) {
                        start("session-" + number + "-" + i, 2500);
                    }
                };
            case "thread-locals":
                ExecutorService pool = Executors.newFixedThreadPool(6, named("http-worker"));
                return number -> {
                    for (int i = 0; i < 100; i++) {
                        int key = number * 100 + i;
                        pool.submit(() -> SESSION.get().put(key, new char[2500])).get();
                    }
                };
            case "arenas":
                // malloc makes no more than eight for each processor.
                return number -> {
                    if (number % 12 == 0) {
                        named("codec-" + number)
                                .newThread(
                                        () -> {
                                            churn(500, 8000 + number * 32);
                                            try {
                                                new CountDownLatch(1).await();
                                            } catch (InterruptedException e) {
                                                Thread.currentThread().interrupt();
                                            }
                                        })
                                .start();
                    }
                };
            case "statics":
                return number -> {
                    for (int i = 0; i < 250; i++) {
                        QuoteCache.QUOTES.put("ACME-" + number + "-" + i, new double[250]);
                    }
                };
            case "references":
                return number -> {
                    for (int i = 0; i < 250; i++) {
                        keep(new byte[2000]);
                    }
                };
            case "segments":
                // Of JDK 22 and later, and this program is of every release.
                Class<?> arena = Class.forName("java.lang.foreign.Arena");
                Method open = arena.getMethod("ofShared");
                Method allocate = arena.getMethod("allocate", long.class);
                Method fill = Class.forName("java.lang.foreign.MemorySegment").getMethod("fill", byte.class);
                return number -> {
                    for (int i = 0; i < 8; i++) {
                        Object opened = open.invoke(null);
                        fill.invoke(allocate.invoke(opened, (long) BUFFER_BYTES), (byte) 5);
                        Arenas.OPEN.add(opened);
                    }
                };
            case "queue":
                ScheduledThreadPoolExecutor sender = new ScheduledThreadPoolExecutor(1, named("mail-sender"));
                sender.prestartAllCoreThreads();
                return number -> {
                    for (int i = 0; i < 230; i++) {
                        sender.schedule(new Mail(), 1, TimeUnit.DAYS);
                    }
                };
            default:
                throw new IllegalArgumentException(way);
        }
    }

    public static void main(String[] arguments) throws Exception {
        System.load(System.getProperty("library"));
        Leak leak = of(arguments[0]);
        System.out.println("leaking");
        for (int number = 0; ; number++) {
            leak.step(number);
            Thread.sleep(STEP_MS);
        }
    }
}
