package assay.probes.zip;

import assay.probes.Held;
import assay.probes.Holding;
import assay.probes.malloc.NativeLibrary;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/** Inflaters in the middle of a stream, so that zlib holds its window; never ended. */
public final class Inflaters implements Holding {
  private final Account account;
  private final byte[] compressed;
  private final List<Inflater> inflaters = new ArrayList<>();

  public Inflaters(Optional<NativeLibrary> library) {
    this.account = new Account(library);
    this.compressed = new byte[2 * Text.PLAIN.length];
    Deflater deflater = new Deflater();
    deflater.setInput(Text.PLAIN.clone());
    deflater.finish();
    deflater.deflate(compressed);
    deflater.end();
    used().end();
  }

  @Override
  public void grow(int count) {
    account.add(
        () -> {
          for (int i = 0; i < count; i++) {
            inflaters.add(used());
          }
        });
  }

  private Inflater used() {
    Inflater inflater = new Inflater();
    inflater.setInput(compressed);
    try {
      inflater.inflate(new byte[Text.PLAIN.length / 2]);
    } catch (DataFormatException e) {
      throw new IllegalStateException(e);
    }
    inflater.setInput(new byte[0]);
    return inflater;
  }

  @Override
  public void release() {
    inflaters.forEach(Inflater::end);
    inflaters.clear();
    account.clear();
  }

  @Override
  public Held held() {
    // The window that zlib documents; its own state of some 7 KB comes on top.
    return account.of(inflaters.size(), 1L << 15);
  }
}
