package assay.probes.classes;

import assay.probes.Held;
import assay.probes.Holding;
import java.util.ArrayList;
import java.util.List;

/**
 * Class loaders with the same classes each, as a server leaks them when an application is deployed
 * anew. {@code bytes} is what the JVM's metaspace counter grew by.
 */
public final class LeakedLoaders implements Holding {
  private static final int METHODS = 10;

  private final int classes;
  private final PoolUse metaspace = PoolUse.metaspace();
  private final List<BytesLoader> loaders = new ArrayList<>();
  private long metaspaceBytes;

  public LeakedLoaders(int classes) {
    this.classes = classes;
    load();
  }

  @Override
  public void grow(int count) {
    long before = metaspace.bytes();
    for (int i = 0; i < count; i++) {
      loaders.add(load());
    }
    metaspaceBytes += metaspace.bytes() - before;
  }

  private BytesLoader load() {
    BytesLoader loader = new BytesLoader();
    for (int i = 0; i < classes; i++) {
      loader.define(SmallClass.bytes("probe/Deployed" + i, METHODS));
    }
    return loader;
  }

  @Override
  public void release() {
    loaders.clear();
    metaspaceBytes = 0;
  }

  @Override
  public Held held() {
    return new Held(loaders.size(), metaspaceBytes)
        .with("classes", (long) loaders.size() * classes);
  }
}
