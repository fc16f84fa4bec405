package assay.probes.heap;

import assay.probes.Held;
import assay.probes.Holding;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Byte arrays, written to. Each array has a header of 12 to 24 bytes and is rounded up to 8 on top.
 */
public final class Objects implements Holding {
  private final int bytes;
  private final List<byte[]> arrays = new ArrayList<>();

  public Objects(int bytes) {
    this.bytes = bytes;
  }

  @Override
  public void grow(int count) {
    for (int i = 0; i < count; i++) {
      byte[] array = new byte[bytes];
      Arrays.fill(array, (byte) 0x5a);
      arrays.add(array);
    }
  }

  @Override
  public void release() {
    arrays.clear();
  }

  @Override
  public void touch() {
    arrays.forEach(array -> Arrays.fill(array, (byte) 0x5a));
  }

  @Override
  public Held held() {
    return new Held(arrays.size(), (long) arrays.size() * bytes);
  }
}
