package assay.probes.malloc;

import assay.probes.Held;
import assay.probes.Holding;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;

/**
 * Segments of foreign memory (JDK 22 and later), each of a shared arena of its own that nobody
 * closes. By reflection: the probes run on JDK 17, too.
 */
public final class Segments implements Holding {
  private static final byte FILL = 0x5a;

  private final int bytes;
  private final Method open;
  private final Method allocate;
  private final Method fill;
  private final List<AutoCloseable> arenas = new ArrayList<>();

  public Segments(int bytes) {
    this.bytes = bytes;
    try {
      Class<?> arena = Class.forName("java.lang.foreign.Arena");
      open = arena.getMethod("ofShared");
      allocate = arena.getMethod("allocate", long.class, long.class);
      fill = Class.forName("java.lang.foreign.MemorySegment").getMethod("fill", byte.class);
    } catch (ReflectiveOperationException e) {
      throw new IllegalArgumentException("this JDK has no foreign memory: it needs 22 or later", e);
    }
  }

  @Override
  public void grow(int count) {
    try {
      for (int i = 0; i < count; i++) {
        AutoCloseable arena = (AutoCloseable) open.invoke(null);
        fill.invoke(allocate.invoke(arena, (long) bytes, 8L), FILL);
        arenas.add(arena);
      }
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void release() {
    try {
      for (AutoCloseable arena : arenas) {
        arena.close();
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    arenas.clear();
  }

  @Override
  public Held held() {
    return new Held(arenas.size(), (long) arenas.size() * bytes);
  }
}
