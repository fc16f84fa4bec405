package assay.probes.classes;

import assay.probes.Held;
import assay.probes.Holding;
import java.util.ArrayList;
import java.util.List;

/**
 * Classes of one class loader. {@code bytes} is what the JVM's metaspace counter grew by while they
 * were loaded.
 */
public final class GeneratedClasses implements Holding {
  private final int methods;
  private final PoolUse metaspace = PoolUse.metaspace();
  private final List<Class<?>> classes = new ArrayList<>();
  private BytesLoader loader = new BytesLoader();
  private long metaspaceBytes;
  private long fileBytes;
  private int next;

  public GeneratedClasses(int methods) {
    this.methods = methods;
    // The loader's own data and what loading needs are made before anything is counted.
    loader.define(SmallClass.bytes("probe/First", methods));
  }

  @Override
  public void grow(int count) {
    long before = metaspace.bytes();
    for (int i = 0; i < count; i++) {
      byte[] bytes = SmallClass.bytes("probe/Generated" + next++, methods);
      fileBytes += bytes.length;
      classes.add(loader.define(bytes));
    }
    metaspaceBytes += metaspace.bytes() - before;
  }

  @Override
  public void release() {
    classes.clear();
    loader = new BytesLoader();
    metaspaceBytes = 0;
    fileBytes = 0;
  }

  @Override
  public Held held() {
    return new Held(classes.size(), metaspaceBytes).with("class_file_bytes", fileBytes);
  }
}
