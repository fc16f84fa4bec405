package assay.supermarket.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Bytes by hand, after RFC 8949: 8n is an array of n, 6n a text of n bytes, f6 null, fb a double.
 */
class BinaryFormatTest {
  private final BinaryFormat format = new BinaryFormat(RecordShape.of(PlaceOrder.class));

  private Message read(String hex) throws MessageException {
    return format.read(HexFormat.of().parseHex(hex));
  }

  @Test
  void aRecordIsAnArrayOfItsComponents() throws MessageException {
    Message order = new PlaceOrder("a", 7, List.of(new OrderLine(3, 100)));
    assertThat(read("8361610781820318" + "64")).isEqualTo(order);
    assertThat(read(HexFormat.of().formatHex(format.write(order)))).isEqualTo(order);
    assertThat(format.write(order)).hasSizeLessThanOrEqualTo(14);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "", // nothing
        "f6", // null
        "80", // no components
        "82616107", // one too few
        "84616107" + "8000", // one too many
        "83616107" + "f6", // no list
        "83616107" + "81f6", // null in the list
        "83616107" + "818103", // a line of one component
        "8361616137" + "80", // text for a number
        "83610780" + "80", // array for a number
        "836161fb401c000000000000" + "80", // a double for a long
        "836161f6" + "80", // null for a long
        "83f607" + "80", // null for a text
        "830107" + "80", // number for a text
        "836161c249010000000000000000" + "80", // a bignum beyond long
        "836161078182031b0000000100000000", // 2^32 for an int
        "83616107" + "80" + "00", // something behind it
        "bf667365" + "ff", // a map
        "9b7fffffffffffffff", // an array of 2^63-1
        "837b7fffffffffffffff", // a text of 2^63-1 bytes
        "8362c32807" + "80", // a text that is not UTF-8
      })
  void whatIsNotOfTheTypesIsRefused(String hex) {
    assertThatThrownBy(() -> read(hex))
        .isInstanceOf(MessageException.class)
        .hasMessageStartingWith("PlaceOrder as CBOR");
  }

  @Test
  void deepNestingIsRefused() {
    assertThatThrownBy(() -> read("81".repeat(100_000)))
        .isInstanceOf(MessageException.class)
        .hasMessageStartingWith("PlaceOrder as CBOR");
  }
}
