package assay.probes.zip;

import assay.probes.Held;
import assay.probes.Holding;
import assay.probes.malloc.NativeLibrary;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.zip.Deflater;

/**
 * Deflaters that have been used, so that zlib has written to its tables; never ended, as in the
 * well-known leak.
 */
public final class Deflaters implements Holding {
  private final Account account;
  private final List<Deflater> deflaters = new ArrayList<>();

  public Deflaters(Optional<NativeLibrary> library) {
    this.account = new Account(library);
    // Native methods and classes are found once, before anything is counted.
    use(new Deflater()).end();
  }

  @Override
  public void grow(int count) {
    account.add(
        () -> {
          for (int i = 0; i < count; i++) {
            deflaters.add(use(new Deflater()));
          }
        });
  }

  private static Deflater use(Deflater deflater) {
    deflater.setInput(Text.PLAIN.clone());
    byte[] out = new byte[Text.PLAIN.length];
    while (!deflater.needsInput()) {
      deflater.deflate(out, 0, out.length, Deflater.FULL_FLUSH);
    }
    deflater.setInput(new byte[0]);
    return deflater;
  }

  @Override
  public void release() {
    deflaters.forEach(Deflater::end);
    deflaters.clear();
    account.clear();
  }

  @Override
  public Held held() {
    // The sizes that zlib documents for a window of 32 KB and memory level 8; its own state comes
    // on top.
    return account.of(deflaters.size(), 1L << 18);
  }
}
