package assay.probes.reflection;

import assay.probes.Held;
import assay.probes.Holding;
import assay.probes.classes.BytesLoader;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;

/**
 * The first experiment of "A Study of Java's Non-Java Memory": getters and setters, each called so
 * many times through an object of its own. With {@code method} a {@link Method}, with {@code
 * handle} a {@link MethodHandle}. How a JVM runs a {@code Method} is chosen by its options: JDK 17
 * {@code -Dsun.reflect.inflationThreshold=2147483647} or {@code -Dsun.reflect.noInflation=true},
 * JDK 22 and later {@code -Djdk.reflect.useNativeAccessorOnly=true}.
 */
public final class Accessors implements Holding {
  private static final int FIELDS_PER_CLASS = 50;

  private final int calls;
  private final boolean byHandle;
  private final MethodHandles.Lookup lookup = MethodHandles.publicLookup();
  private final List<Object> accessors = new ArrayList<>();
  private BytesLoader loader = new BytesLoader();
  private int classes;
  private long called;
  private long checksum;

  public Accessors(int calls, String form) {
    if (!form.equals("method") && !form.equals("handle")) {
      throw new IllegalArgumentException(form + " is neither method nor handle");
    }
    this.calls = calls;
    this.byHandle = form.equals("handle");
  }

  /** Getters and setters in turn, so that an even count has as many of each. */
  @Override
  public void grow(int count) {
    try {
      for (int done = 0; done < count; done += 2 * FIELDS_PER_CLASS) {
        callAllOf(Bean.define(loader, classes++, FIELDS_PER_CLASS), count - done);
      }
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  private void callAllOf(Class<?> type, int atMost) throws Throwable {
    Object bean = type.getConstructor().newInstance();
    for (int i = 0; i < Math.min(2 * FIELDS_PER_CLASS, atMost); i++) {
      String field = "Field" + i / 2;
      boolean sets = i % 2 == 0;
      Method method =
          sets ? type.getMethod("set" + field, int.class) : type.getMethod("get" + field);
      if (byHandle) {
        MethodHandle handle = lookup.unreflect(method);
        accessors.add(handle);
        callHandle(handle, bean, sets);
      } else {
        accessors.add(method);
        callMethod(method, bean, sets);
      }
    }
  }

  private void callHandle(MethodHandle handle, Object bean, boolean sets) throws Throwable {
    for (int call = 1; call <= calls; call++, called++) {
      if (sets) {
        handle.invoke(bean, call);
      } else {
        checksum += (int) handle.invoke(bean);
      }
    }
  }

  private void callMethod(Method method, Object bean, boolean sets) throws Throwable {
    for (int call = 1; call <= calls; call++, called++) {
      if (sets) {
        method.invoke(bean, call);
      } else {
        checksum += (int) method.invoke(bean);
      }
    }
  }

  @Override
  public void release() {
    accessors.clear();
    loader = new BytesLoader();
    called = 0;
    checksum = 0;
  }

  /** No bytes of its own: what the JVM makes of the calls is what is measured. */
  @Override
  public Held held() {
    return new Held(accessors.size(), 0)
        .with("calls", called)
        .with("classes", classes)
        .with("checksum", checksum);
  }
}
