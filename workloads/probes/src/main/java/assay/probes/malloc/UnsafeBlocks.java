package assay.probes.malloc;

import assay.probes.Held;
import assay.probes.Holding;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.util.Arrays;

/**
 * Blocks of {@code sun.misc.Unsafe.allocateMemory}, their addresses in an array, as off-heap caches
 * do.
 */
public final class UnsafeBlocks implements Holding {
  private static final int FILL = 0x5a;

  private final int bytes;
  private final MethodHandle allocate;
  private final MethodHandle set;
  private final MethodHandle free;
  private long[] addresses = {};

  public UnsafeBlocks(int bytes) {
    this.bytes = bytes;
    // By handle: a compiler warns of the class itself in a way that nothing can silence.
    try {
      Class<?> type = Class.forName("sun.misc.Unsafe");
      Field field = type.getDeclaredField("theUnsafe");
      field.setAccessible(true);
      Object unsafe = field.get(null);
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      MethodType toAddress = MethodType.methodType(long.class, long.class);
      MethodType toSet = MethodType.methodType(void.class, long.class, long.class, byte.class);
      MethodType toFree = MethodType.methodType(void.class, long.class);
      allocate = lookup.findVirtual(type, "allocateMemory", toAddress).bindTo(unsafe);
      set = lookup.findVirtual(type, "setMemory", toSet).bindTo(unsafe);
      free = lookup.findVirtual(type, "freeMemory", toFree).bindTo(unsafe);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("this JDK has no sun.misc.Unsafe", e);
    }
  }

  @Override
  public void grow(int count) {
    int from = addresses.length;
    addresses = Arrays.copyOf(addresses, from + count);
    for (int i = from; i < addresses.length; i++) {
      addresses[i] = allocated();
    }
    touch();
  }

  @Override
  public void touch() {
    for (long address : addresses) {
      try {
        set.invokeExact(address, (long) bytes, (byte) FILL);
      } catch (Throwable e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private long allocated() {
    try {
      return (long) allocate.invokeExact((long) bytes);
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void release() {
    for (long address : addresses) {
      try {
        free.invokeExact(address);
      } catch (Throwable e) {
        throw new IllegalStateException(e);
      }
    }
    addresses = new long[0];
  }

  @Override
  public Held held() {
    return new Held(addresses.length, (long) addresses.length * bytes);
  }
}
