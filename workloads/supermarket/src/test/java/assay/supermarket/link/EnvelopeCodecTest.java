package assay.supermarket.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import assay.supermarket.message.Acknowledgement;
import assay.supermarket.message.Catalogue;
import assay.supermarket.message.Codec;
import assay.supermarket.message.CompanyKeys;
import assay.supermarket.message.Message;
import assay.supermarket.message.MessageException;
import assay.supermarket.message.MessageTypes;
import assay.supermarket.message.PlaceOrder;
import assay.supermarket.message.RandomMessages;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class EnvelopeCodecTest {
  private final EnvelopeCodec codec =
      new EnvelopeCodec(new Codec(Catalogue.of(MessageTypes.ALL), CompanyKeys.fresh()));

  private byte[] encode(Message message) throws MessageException {
    return codec.encode(envelope(message, "north"), message);
  }

  private Envelope envelope(Message message, String from) throws MessageException {
    var type = codec.typeOf(message);
    AgentId to = new AgentId("south", "supplier", 12);
    int form = type.form().bits();
    return new Envelope(Envelope.Kind.MESSAGE, from, 1L << 40, 9, 4, to, type.name(), form);
  }

  private Message decode(byte[] bytes) throws MessageException {
    return codec.read(codec.open(bytes));
  }

  @Test
  void envelopesOfAllTypesComeBack() throws MessageException {
    RandomMessages random = new RandomMessages(4);
    for (Class<? extends Message> type : MessageTypes.ALL) {
      Message message = random.of(type);
      EnvelopeCodec.Sent sent = codec.open(encode(message));
      assertThat(sent.envelope()).isEqualTo(envelope(message, "north"));
      assertThat(codec.read(sent)).isEqualTo(message);
    }
  }

  /** The header is in clear, and yet nothing in it can change: not the form, not the type. */
  @Test
  void anyFlippedBitIsRefused() throws MessageException {
    for (Message message : List.of(new PlaceOrder("s", 7, List.of()), new Acknowledgement(7))) {
      byte[] bytes = encode(message);
      for (int bit = 0; bit < 8 * bytes.length; bit++) {
        bytes[bit / 8] ^= (byte) (1 << (bit % 8));
        assertThatThrownBy(() -> decode(bytes))
            .as("bit " + bit)
            .isInstanceOf(MessageException.class);
        bytes[bit / 8] ^= (byte) (1 << (bit % 8));
      }
      assertThat(decode(bytes)).isEqualTo(message);
    }
  }

  /** Who knows how to make a checksum can still not leave out a seal. */
  @Test
  void aTypeThatIsSecureIsNotTakenInAnotherForm() throws MessageException {
    Message order = new PlaceOrder("s", 7, List.of());
    Catalogue unsealed = Catalogue.of(List.of(Acknowledgement.class));
    EnvelopeCodec forger = new EnvelopeCodec(new Codec(unsealed, CompanyKeys.fresh()));
    Envelope envelope = envelope(order, "north");
    Envelope open =
        new Envelope(envelope.kind(), "north", 1, 1, 1, envelope.to(), "PlaceOrder", /* form= */ 0);
    byte[] bytes = forger.encode(open, new Acknowledgement(7));
    assertThatThrownBy(() -> decode(bytes)).hasMessage("PlaceOrder in form 0");
  }

  @Test
  void cutAndRandomEnvelopesAreRefusedByTheOneException() throws MessageException {
    RandomMessages messages = new RandomMessages(5);
    SplittableRandom random = new SplittableRandom(6);
    for (Class<? extends Message> type : MessageTypes.ALL) {
      byte[] whole = encode(messages.of(type));
      for (int length = 0; length < whole.length; length++) {
        byte[] cut = Arrays.copyOf(whole, length);
        assertThatThrownBy(() -> decode(cut)).isInstanceOf(MessageException.class);
      }
      for (int i = 0; i < 300; i++) {
        byte[] changed = whole.clone();
        for (int n = random.nextInt(4); n >= 0; n--) {
          changed[random.nextInt(changed.length)] = (byte) random.nextInt();
        }
        Throwable thrown = catchThrowable(() -> decode(changed));
        if (thrown != null) {
          assertThat(thrown).isInstanceOf(MessageException.class);
        }
        byte[] noise = new byte[random.nextInt(200)];
        random.nextBytes(noise);
        assertThatThrownBy(() -> decode(noise)).isInstanceOf(MessageException.class);
      }
    }
  }

  @Test
  void aNameThatDoesNotFitIsNotWritten() {
    Message message = new PlaceOrder("s", 7, List.of());
    for (String name : List.of("", "x".repeat(65), "a b", "a/b", "\u00e9", "a\n")) {
      assertThatThrownBy(() -> codec.encode(envelope(message, name), message))
          .as(name)
          .isInstanceOf(MessageException.class)
          .hasMessageContaining("cannot be called");
    }
  }

  @Test
  void anEnvelopeThatIsTooLongIsRefused() {
    assertThatThrownBy(() -> codec.open(new byte[EnvelopeCodec.BYTES_MAX + 1]))
        .isInstanceOf(MessageException.class)
        .hasMessageContaining("too long");
  }
}
