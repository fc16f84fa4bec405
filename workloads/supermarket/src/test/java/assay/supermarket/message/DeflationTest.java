package assay.supermarket.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DeflationTest {
  private static final int BYTES_MAX = 10_000;
  private final Deflation deflation = new Deflation(BYTES_MAX);

  @AfterEach
  void close() {
    deflation.close();
  }

  @Test
  void textsOfAllLengthsComeBack() throws MessageException {
    SplittableRandom random = new SplittableRandom(1);
    for (int length : new int[] {0, 1, 2, 100, 4096, BYTES_MAX}) {
      byte[] noise = new byte[length];
      random.nextBytes(noise);
      assertThat(deflation.inflate(deflation.deflate(noise))).isEqualTo(noise);
      byte[] zeros = new byte[length];
      assertThat(deflation.inflate(deflation.deflate(zeros))).isEqualTo(zeros);
    }
  }

  @Test
  void aTextThatWouldBecomeTooLongIsRefused() {
    byte[] packed = deflation.deflate(new byte[BYTES_MAX + 1]);
    assertThat(packed).hasSizeLessThan(100);
    assertThatThrownBy(() -> deflation.inflate(packed)).hasMessageContaining("promise 10001");
  }

  @Test
  void aTextThatIsNotOfTheLengthItPromisesIsRefused() {
    byte[] packed = deflation.deflate(new byte[5000]);
    for (int lie : new int[] {4999, 5001, 0, -1, Integer.MAX_VALUE}) {
      ByteBuffer.wrap(packed).putInt(lie);
      assertThatThrownBy(() -> deflation.inflate(packed))
          .as("promises " + lie)
          .isInstanceOf(MessageException.class);
    }
  }

  @Test
  void whatFollowsTheEndIsRefused() {
    byte[] packed = deflation.deflate(new byte[10]);
    assertThatThrownBy(() -> deflation.inflate(Arrays.copyOf(packed, packed.length + 1)))
        .isInstanceOf(MessageException.class);
  }

  @Test
  void anEndlessTextOrOneThatWantsADictionaryIsRefused() {
    // RFC 1950: 78 = deflate, 20 in the next byte asks for a preset dictionary; both checked mod
    // 31.
    byte[] dictionary = {0, 0, 0, 5, 0x78, (byte) 0xbb, 0, 0, 0, 1, 0, 0};
    assertThatThrownBy(() -> deflation.inflate(dictionary)).isInstanceOf(MessageException.class);
    byte[] cut = Arrays.copyOf(deflation.deflate(new byte[5000]), 12);
    assertThatThrownBy(() -> deflation.inflate(cut)).isInstanceOf(MessageException.class);
  }
}
