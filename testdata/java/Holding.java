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

    /** Arenas of foreign memory alone, whose segments nobody keeps. */
    static class Scopes {
        final List<Object> arenas = new ArrayList<>();
    }

    /** Segments of such arenas that the garbage collector closes. */
    static class Segments {
        final Object[] segments = new Object[COUNT];
    }

    /** Segments and the arena that all of them are of. */
    record Table(Object arena, List<Object> rows) {}

    static final List<Object> KEPT = new ArrayList<>();

    static ByteBuffer buffer() {
        return ByteBuffer.allocateDirect(BYTES);
    }

    /** Foreign memory is in JDK 22 and later; this is compiled for JDK 17. */
    static Object arena(String kind) throws ReflectiveOperationException {
        return Class.forName("java.lang.foreign.Arena").getMethod(kind).invoke(null);
    }

    static Object segment(Object arena) throws ReflectiveOperationException {
        Class<?> allocator = Class.forName("java.lang.foreign.SegmentAllocator");
        Object segment = allocator.getMethod("allocate", long.class).invoke(arena, (long) BYTES);
        return Class.forName("java.lang.foreign.MemorySegment").getMethod("fill", byte.class).invoke(segment, (byte) 1);
    }

    static List<String> holdForeignMemory() throws ReflectiveOperationException {
        Scopes scopes = new Scopes();
        Segments segments = new Segments();
        Table table = new Table(arena("ofShared"), new ArrayList<>());
        for (int i = 0; i < COUNT; i++) {
            Object arena = arena("ofShared");
            segment(arena);
            scopes.arenas.add(arena);
            segments.segments[i] = segment(arena("ofAuto"));
            table.rows.add(segment(table.arena));
        }
        KEPT.addAll(List.of(scopes, segments, table));
        return List.of("Scopes", "Segments", "Table");
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
        List<String> names = new ArrayList<>(List.of("Registry", "Cache", "Session", "Pool", "Views", "Worker"));
        if (Runtime.version().feature() >= 22) {
            names.addAll(holdForeignMemory());
        }
        System.gc();
        for (String name : names) {
            System.out.println("Holding$" + name + " " + (long) COUNT * BYTES);
        }
        System.out.println("waiting");
        System.in.read();
    }
}
