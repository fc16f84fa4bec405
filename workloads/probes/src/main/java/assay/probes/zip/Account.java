package assay.probes.zip;

import assay.probes.Held;
import assay.probes.malloc.NativeLibrary;
import java.util.Optional;

/** Counts by glibc's own figures what zlib allocated, where the probes' C library is loaded. */
final class Account {
  private final Optional<NativeLibrary> library;
  private long mallocBytes;
  private boolean known;

  Account(Optional<NativeLibrary> library) {
    this.library = library;
    this.known = library.isPresent();
  }

  void add(Runnable growth) {
    long before = inUse();
    growth.run();
    long after = inUse();
    known &= before >= 0 && after >= 0;
    mallocBytes += after - before;
  }

  void clear() {
    mallocBytes = 0;
  }

  private long inUse() {
    return library.map(NativeLibrary::mallocInUse).orElse(-1L);
  }

  Held of(long count, long bytesEach) {
    Held held = new Held(count, count * bytesEach);
    return known ? held.with("malloc_bytes", mallocBytes) : held;
  }
}
