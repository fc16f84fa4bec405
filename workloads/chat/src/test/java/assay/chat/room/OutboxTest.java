package assay.chat.room;

import static org.assertj.core.api.Assertions.assertThat;

import assay.chat.room.Outbox.Offer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OutboxTest {
  private static final byte[] PREFIX = "from a b ".getBytes(StandardCharsets.US_ASCII);
  private static final int QUEUE_BYTES = 200;

  private final Outbox outbox = new Outbox(QUEUE_BYTES);

  /** 14 bytes on a plain connection, 15 in a frame. */
  private static Message delivery(int number) {
    byte[] input = (number + " xy").getBytes(StandardCharsets.US_ASCII);
    return Message.delivery(PREFIX, input, 0, input.length);
  }

  /** What a kernel gets that takes so many bytes at a time. */
  private String emptied(int bytesAtOnce) {
    StringBuilder got = new StringBuilder();
    boolean more = true;
    while (more) {
      ByteBuffer buffer = ByteBuffer.allocate(64);
      outbox.peek(buffer);
      int taken = Math.min(bytesAtOnce, buffer.position());
      got.append(new String(buffer.array(), 0, taken, StandardCharsets.ISO_8859_1));
      more = outbox.advance(taken);
    }
    return got.toString();
  }

  @ParameterizedTest
  @CsvSource({"1, false", "5, false", "64, false", "1, true", "7, true", "64, true"})
  void messagesComeOutWholeAndInOrderHoweverTheKernelTakesThem(int atOnce, boolean webSocket) {
    if (webSocket) {
      outbox.useWebSocket();
    }
    StringBuilder expected = new StringBuilder();
    // More than once around the ring.
    for (int round = 0; round < 3; round++) {
      for (int number = 1; number < 10; number++) {
        assertThat(outbox.offer(delivery(number)))
            .isEqualTo(number == 1 ? Offer.FLUSH : Offer.QUEUED);
        expected.append(webSocket ? "\u0081\r" : "").append("from a b " + number + " xy");
        expected.append(webSocket ? "" : "\n");
      }
      assertThat(emptied(atOnce)).isEqualTo(expected.toString());
      expected.setLength(0);
    }
    assertThat(outbox.deliveries()).isEqualTo(new Deliveries(27, 27, 0, 0));
  }

  @Test
  void aMessageIsDeliveredWhenTheKernelHasAllOfIt() {
    outbox.offer(delivery(1));
    outbox.offer(delivery(2));
    outbox.advance(27);
    assertThat(outbox.deliveries()).isEqualTo(new Deliveries(2, 1, 1, 0));
    outbox.advance(1);
    assertThat(outbox.deliveries()).isEqualTo(new Deliveries(2, 2, 0, 0));
  }

  @Test
  void whatDoesNotFitIsDroppedAndSaidOnce() {
    int fits = QUEUE_BYTES / 14;
    for (int i = 0; i < fits; i++) {
      assertThat(outbox.offer(delivery(1))).isNotEqualTo(Offer.OVERFLOW);
    }
    assertThat(outbox.offer(delivery(1))).isEqualTo(Offer.OVERFLOW);
    assertThat(outbox.offer(delivery(1))).isEqualTo(Offer.QUEUED);
    assertThat(outbox.deliveries()).isEqualTo(new Deliveries(fits + 2, 0, fits, 2));
    assertThat(outbox.close(End.SLOW_READER)).isEqualTo(End.SLOW_READER);
    assertThat(outbox.close(End.CLOSED)).isNull();
    assertThat(outbox.deliveries()).isEqualTo(new Deliveries(fits + 2, 0, 0, fits + 2));
  }

  @Test
  void whatWasSaidLastIsWhyAConnectionEnds() {
    outbox.offer(delivery(1));
    outbox.offerLast(End.BYE, Message.text("bye"));
    assertThat(outbox.isFinished()).isFalse();
    assertThat(emptied(64)).isEqualTo("from a b 1 xy\nbye\n");
    assertThat(outbox.isFinished()).isTrue();
    assertThat(outbox.close(End.CLOSED)).isEqualTo(End.BYE);
  }

  @Test
  void looksCountWhileTheKernelTakesNothing() {
    assertThat(outbox.looksWithoutProgress()).isZero();
    outbox.offer(delivery(1));
    // Who is to write it writes to somebody else.
    assertThat(outbox.looksWithoutProgress()).isZero();
    outbox.peek(ByteBuffer.allocate(64));
    assertThat(outbox.looksWithoutProgress()).isEqualTo(1);
    assertThat(outbox.looksWithoutProgress()).isEqualTo(2);
    outbox.advance(1);
    assertThat(outbox.looksWithoutProgress()).isZero();
    assertThat(outbox.looksWithoutProgress()).isEqualTo(1);
    emptied(64);
    assertThat(outbox.looksWithoutProgress()).isZero();
    assertThat(outbox.looksWithoutProgress()).isZero();
  }

  @Test
  void looksCountWhileAClientDoesNotCloseAfterTheLastMessage() {
    outbox.offerLast(End.BYE, Message.text("bye"));
    assertThat(outbox.looksWithoutProgress()).isZero();
    emptied(64);
    assertThat(outbox.looksWithoutProgress()).isZero();
    assertThat(outbox.looksWithoutProgress()).isEqualTo(1);
  }
}
