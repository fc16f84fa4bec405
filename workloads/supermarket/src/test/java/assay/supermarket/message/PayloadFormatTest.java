package assay.supermarket.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What whoever has the keys, or makes the checksum right, can do to a reader. */
class PayloadFormatTest {
  private static PayloadFormat format(Wire.Format format, Class<? extends Message> type) {
    RecordShape shape = RecordShape.of(type);
    return format == Wire.Format.XML ? new XmlFormat(shape) : new BinaryFormat(shape);
  }

  @ParameterizedTest
  @EnumSource
  void brokenPayloadsAreAnotherMessageOrTheOneException(Wire.Format format)
      throws MessageException {
    RandomMessages messages = new RandomMessages(7);
    SplittableRandom random = new SplittableRandom(8);
    int refused = 0;
    for (Class<? extends Message> type : MessageTypes.ALL) {
      PayloadFormat payloads = format(format, type);
      for (int i = 0; i < 100; i++) {
        byte[] whole = payloads.write(messages.of(type));
        byte[] broken = broken(whole, random);
        Throwable thrown =
            catchThrowable(() -> assertThat(payloads.read(broken)).isInstanceOf(type));
        if (thrown != null) {
          assertThat(thrown)
              .isInstanceOf(MessageException.class)
              .hasMessageStartingWith(type.getSimpleName() + " as ");
          refused++;
        }
      }
    }
    assertThat(refused).isGreaterThan(50 * MessageTypes.ALL.size());
  }

  private static byte[] broken(byte[] whole, SplittableRandom random) {
    int where = random.nextInt(whole.length);
    byte[] broken = whole.clone();
    switch (random.nextInt(4)) {
      case 0 -> broken = Arrays.copyOf(whole, where);
      case 1 -> broken[where] ^= (byte) (1 << random.nextInt(8));
      case 2 -> random.nextBytes(broken);
      default -> {
        byte[] piece = Arrays.copyOfRange(whole, where, whole.length);
        System.arraycopy(piece, 0, broken, random.nextInt(where + 1), piece.length);
      }
    }
    return broken;
  }
}
