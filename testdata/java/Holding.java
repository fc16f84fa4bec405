// Started by tests: holds native memory in known ways, prints `CLASS BYTES` for each class that holds some, says "waiting", and
// then does nothing.
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

public class Holding {
    static final int BYTES = 100_000;
    static final int COUNT = 20;

    /** In a static list. */
    static class Registry {
        static final List<ByteBuffer> BUFFERS = new ArrayList<>();
    }

    /** As values of a map. */
    static class Cache {
        final Map<String, ByteBuffer> buffers = new HashMap<>();
    }

    /** In a field of its own. */
    record Session(int number, ByteBuffer buffer) {}

    /** In a map for many threads, behind a reference. */
    static class Pool {
        final Map<Integer, AtomicReference<ByteBuffer>> buffers = new ConcurrentHashMap<>();
    }

    /** A view of the buffer alone. */
    static class Views {
        final List<ByteBuffer> views = new ArrayList<>();
    }

    /** In an array of its own type, captured by code. */
    static class Tasks {
        final Supplier<?>[] tasks = new Supplier<?>[COUNT];
    }

    static class Worker implements Supplier<Integer> {
        final ByteBuffer[] buffers = new ByteBuffer[1];

        @Override
        public Integer get() {
            return buffers[0].capacity();
        }
    }

    static final List<Object> KEPT = new ArrayList<>();

    static ByteBuffer buffer() {
        return ByteBuffer.allocateDirect(BYTES);
    }

    public static void main(String[] arguments) throws Exception {
        Cache cache = new Cache();
        Pool pool = new Pool();
        Views views = new Views();
        Tasks tasks = new Tasks();
        for (int i = 0; i < COUNT; i++) {
            Registry.BUFFERS.add(buffer());
            cache.buffers.put("key " + i, buffer());
            KEPT.add(new Session(i, buffer()));
            pool.buffers.put(i, new AtomicReference<>(buffer()));
            views.views.add(buffer().slice());
            Worker worker = new Worker();
            worker.buffers[0] = buffer();
            tasks.tasks[i] = worker;
        }
        KEPT.addAll(List.of(cache, pool, views, tasks));
        System.gc();
        for (String name : List.of("Registry", "Cache", "Session", "Pool", "Views", "Worker")) {
            System.out.println("Holding$" + name + " " + (long) COUNT * BYTES);
        }
        System.out.println("waiting");
        System.in.read();
    }
}
