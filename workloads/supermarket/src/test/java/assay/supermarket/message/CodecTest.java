package assay.supermarket.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class CodecTest {
  private static final byte[] HEADER = "a header".getBytes(StandardCharsets.US_ASCII);
  private static final CompanyKeys KEYS = CompanyKeys.fresh();

  static Stream<Form> forms() {
    return Arrays.stream(Wire.Format.values())
        .flatMap(
            format ->
                Stream.of(
                    new Form(format, false, false),
                    new Form(format, false, true),
                    new Form(format, true, false),
                    new Form(format, true, true)));
  }

  private static Codec codec(Form form) {
    return new Codec(new Catalogue(MessageTypes.ALL, type -> form), KEYS);
  }

  private static Message through(Codec codec, Message message) throws MessageException {
    byte[] bytes = codec.encode(HEADER, message);
    assertThat(Arrays.copyOf(bytes, HEADER.length)).isEqualTo(HEADER);
    return codec.decode(codec.catalogue().typeOf(message), bytes, HEADER.length);
  }

  @ParameterizedTest
  @MethodSource("forms")
  void everyTypeComesBackAsItWas(Form form) throws MessageException {
    try (Codec codec = codec(form)) {
      RandomMessages random = new RandomMessages(1);
      for (Class<? extends Message> type : MessageTypes.ALL) {
        for (int i = 0; i < 40; i++) {
          Message message = random.of(type);
          assertThat(through(codec, message)).isEqualTo(message);
        }
      }
    }
  }

  /** Cut, longer, changed by one bit or random. */
  @ParameterizedTest
  @MethodSource("forms")
  void brokenBytesAreRefusedByTheOneException(Form form) throws MessageException {
    SplittableRandom random = new SplittableRandom(2);
    try (Codec codec = codec(form)) {
      RandomMessages messages = new RandomMessages(3);
      for (Class<? extends Message> type : MessageTypes.ALL) {
        MessageType named = codec.catalogue().typeNamed(type.getSimpleName());
        byte[] whole = codec.encode(HEADER, messages.of(type));
        for (int i = 0; i < 60; i++) {
          byte[] broken = broken(whole, i, random);
          assertThatThrownBy(() -> codec.decode(named, broken, HEADER.length))
              .isInstanceOf(MessageException.class)
              .hasMessageStartingWith(type.getSimpleName());
        }
      }
    }
  }

  private static byte[] broken(byte[] whole, int way, SplittableRandom random) {
    int payload = whole.length - HEADER.length;
    return switch (way % 4) {
      case 0 -> Arrays.copyOf(whole, HEADER.length + random.nextInt(payload));
      case 1 -> Arrays.copyOf(whole, whole.length + 1 + random.nextInt(9));
      case 2 -> {
        byte[] changed = whole.clone();
        changed[HEADER.length + random.nextInt(payload)] ^= (byte) (1 << random.nextInt(8));
        yield changed;
      }
      default -> {
        byte[] noise = new byte[HEADER.length + random.nextInt(300)];
        random.nextBytes(noise);
        yield noise;
      }
    };
  }

  @ParameterizedTest
  @MethodSource("forms")
  void anyFlippedBitIsRefused(Form form) throws MessageException {
    try (Codec codec = codec(form)) {
      MessageType type = codec.catalogue().typeNamed("PlaceOrder");
      Message order = new PlaceOrder("a/supermarket/0", 7, List.of(new OrderLine(3, 100)));
      byte[] bytes = codec.encode(HEADER, order);
      for (int bit = 0; bit < 8 * bytes.length; bit++) {
        bytes[bit / 8] ^= (byte) (1 << (bit % 8));
        assertThatThrownBy(() -> codec.decode(type, bytes, HEADER.length))
            .as("bit " + bit)
            .isInstanceOf(MessageException.class);
        bytes[bit / 8] ^= (byte) (1 << (bit % 8));
      }
      assertThat(codec.decode(type, bytes, HEADER.length)).isEqualTo(order);
    }
  }

  @Test
  void anotherCompanysMessageIsRefused() throws MessageException {
    Message order = new PlaceOrder("a/supermarket/0", 7, List.of());
    try (Codec ours = codec(new Form(Wire.Format.XML, true, false));
        Codec theirs = new Codec(Catalogue.of(List.of(PlaceOrder.class)), CompanyKeys.fresh())) {
      byte[] bytes = theirs.encode(HEADER, order);
      assertThatThrownBy(() -> ours.decode(ours.catalogue().typeOf(order), bytes, HEADER.length))
          .hasMessageContaining("PlaceOrder: the signature");
    }
  }

  @Test
  void equalSecureMessagesLookDifferent() throws MessageException {
    try (Codec codec = codec(new Form(Wire.Format.BINARY, true, false))) {
      Message order = new PlaceOrder("a/supermarket/0", 7, List.of());
      assertThat(codec.encode(HEADER, order)).isNotEqualTo(codec.encode(HEADER, order));
    }
  }

  @Test
  void nothingIsNullInAMessage() {
    forms()
        .forEach(
            form -> {
              try (Codec codec = codec(form)) {
                assertThatThrownBy(() -> codec.encode(HEADER, new AuditQuery(null)))
                    .hasMessage("AuditQuery has no asker");
                assertThatThrownBy(
                        () ->
                            codec.encode(
                                HEADER, new PlaceOrder("a", 1, Collections.singletonList(null))))
                    .hasMessage("PlaceOrder has a null among its lines");
              }
            });
  }

  @Test
  void whatIsTooLongIsNotSent() {
    try (Codec codec = codec(new Form(Wire.Format.BINARY, false, true))) {
      String text = "x".repeat(Codec.PAYLOAD_BYTES_MAX);
      assertThatThrownBy(() -> codec.encode(HEADER, new AuditQuery(text)))
          .isInstanceOf(MessageException.class)
          .hasMessageContaining("too long");
      MessageType type = codec.catalogue().types().iterator().next();
      byte[] bytes = new byte[2 * Codec.PAYLOAD_BYTES_MAX];
      assertThatThrownBy(() -> codec.decode(type, bytes, 0)).hasMessageContaining("too long");
    }
  }
}
