package assay.probes.malloc;

import assay.probes.Held;
import assay.probes.Holding;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Anonymous mappings for which the kernel was asked for huge pages, written to in full. {@code
 * bytes} are resident in any case; {@code huge_bytes} of the whole process are in huge pages, by
 * the kernel's own account.
 */
public final class HugePages implements Holding {
  private static final int HUGE_PAGE_BYTES = 2 << 20;

  private final NativeLibrary library;
  private final long bytes;
  private final List<Long> addresses = new ArrayList<>();

  /** Sizes are rounded up to whole huge pages. */
  public HugePages(NativeLibrary library, int bytes) {
    this.library = library;
    this.bytes = (bytes + HUGE_PAGE_BYTES - 1L) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
  }

  @Override
  public void grow(int count) {
    for (int i = 0; i < count; i++) {
      addresses.add(library.mapHuge(bytes));
    }
  }

  @Override
  public void release() {
    addresses.forEach(address -> library.unmap(address, bytes));
    addresses.clear();
  }

  @Override
  public Held held() {
    return new Held(addresses.size(), addresses.size() * bytes).with("huge_bytes", hugeBytes());
  }

  private static long hugeBytes() {
    try {
      return Files.readAllLines(Path.of("/proc/self/smaps_rollup")).stream()
          .filter(line -> line.startsWith("AnonHugePages:"))
          .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
          .sum();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
