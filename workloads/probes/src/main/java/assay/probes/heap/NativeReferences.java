package assay.probes.heap;

import assay.probes.Held;
import assay.probes.Holding;
import assay.probes.malloc.NativeLibrary;
import java.util.ArrayList;
import java.util.List;

/**
 * Byte arrays that nothing but references of native code keeps alive: what bindings leak that
 * delete no global reference.
 */
public final class NativeReferences implements Holding {
  private final NativeLibrary library;
  private final int bytes;
  private final List<Long> references = new ArrayList<>();

  public NativeReferences(NativeLibrary library, int bytes) {
    this.library = library;
    this.bytes = bytes;
  }

  @Override
  public void grow(int count) {
    for (int i = 0; i < count; i++) {
      references.add(library.reference(new byte[bytes]));
    }
  }

  @Override
  public void release() {
    references.forEach(library::dropReference);
    references.clear();
  }

  @Override
  public Held held() {
    return new Held(references.size(), (long) references.size() * bytes);
  }
}
