package assay.probes.zip;

import java.util.SplittableRandom;

/** Something to compress that neither vanishes nor stays as it is. */
final class Text {
  private static final int BYTES = 256 << 10;
  private static final long SEED = 20101017;

  /** Not to be written to. */
  static final byte[] PLAIN = make();

  private Text() {}

  private static byte[] make() {
    SplittableRandom random = new SplittableRandom(SEED);
    byte[] text = new byte[BYTES];
    for (int i = 0; i < BYTES; i++) {
      text[i] = (byte) ('a' + random.nextInt(20));
    }
    return text;
  }
}
