package assay.probes.malloc;

import assay.probes.Held;
import assay.probes.Holding;

/**
 * Blocks of malloc that a native library holds, in a table that it mapped or in a static array;
 * Java does not know their addresses.
 */
public final class LibraryBlocks implements Holding {
  /** Where the library keeps the pointers. */
  public enum Place {
    TABLE,
    STATICS
  }

  private final NativeLibrary library;
  private final Place place;
  private final int bytes;
  private long count;
  private long usableBytes;

  public LibraryBlocks(NativeLibrary library, Place place, int bytes) {
    this.library = library;
    this.place = place;
    this.bytes = bytes;
  }

  @Override
  public void grow(int more) {
    usableBytes +=
        place == Place.TABLE ? library.hold(more, bytes) : library.holdInStatics(more, bytes);
    count += more;
  }

  @Override
  public void release() {
    library.freeAll();
    count = 0;
    usableBytes = 0;
  }

  @Override
  public Held held() {
    return new Held(count, count * bytes).with("usable_bytes", usableBytes);
  }
}
