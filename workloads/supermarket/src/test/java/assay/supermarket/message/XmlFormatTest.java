package assay.supermarket.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class XmlFormatTest {
  private static final String WHOLE =
      "<PlaceOrder><sender>a</sender><sequence>7</sequence><lines>"
          + "<OrderLine><product>3</product><quantity>100</quantity></OrderLine></lines></PlaceOrder>";

  private final XmlFormat format = new XmlFormat(RecordShape.of(PlaceOrder.class));

  private Message read(String text) throws MessageException {
    return format.read(text.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void aRecordIsElementsInOrder() throws MessageException {
    Message order = new PlaceOrder("a", 7, List.of(new OrderLine(3, 100)));
    assertThat(new String(format.write(order), StandardCharsets.UTF_8)).isEqualTo(WHOLE);
    assertThat(read(WHOLE)).isEqualTo(order);
  }

  /** What other writers may write of the same: the schema allows it. */
  @Test
  void spacesAroundNumbersAndBetweenElementsMeanNothing() throws MessageException {
    String spaced =
        WHOLE
            .replace("><", ">\n  <")
            .replace(">7<", "> +007\n<")
            .replace(
                "<PlaceOrder>", "<?xml version='1.0' encoding='UTF-8'?><!-- c --><PlaceOrder>");
    assertThat(read(spaced)).isEqualTo(read(WHOLE));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "<sequence>7</sequence>=>", // a component is missing
        "<sequence>7</sequence>=><sequence>7</sequence><sequence>7</sequence>",
        ">7<=>>seven<",
        ">7<=>>7.0<",
        ">7<=>><",
        ">7<=>>9223372036854775808<", // one more than a long
        ">3<=>>2147483648<", // one more than an int
        "<lines>=><lines><other/>",
        "<lines>=><lines>text",
        "<sender>=><sender kind='x'>",
        "<PlaceOrder>=><PlaceOrder xmlns='urn:other'>",
        "PlaceOrder=>Delivery", // another type
        "</PlaceOrder>=></PlaceOrder><PlaceOrder/>",
        "</PlaceOrder>=>",
        ">a<=>>&a;<",
        ">a<=>>&#0;<",
      })
  void whatTheSchemaDoesNotSayIsRefused(String change) {
    String[] fromTo = change.split("=>", 2);
    String changed = WHOLE.replace(fromTo[0], fromTo[1]);
    assertThat(changed).isNotEqualTo(WHOLE);
    assertThatThrownBy(() -> read(changed))
        .isInstanceOf(MessageException.class)
        .hasMessageStartingWith("PlaceOrder as XML: ");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "<!DOCTYPE PlaceOrder [<!ENTITY a SYSTEM 'file:///etc/hostname'>]>",
        "<!DOCTYPE PlaceOrder [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;'>]>",
        "<!DOCTYPE PlaceOrder SYSTEM 'http://127.0.0.1:1/x.dtd'>",
      })
  void documentTypesAreRefused(String type) {
    assertThatThrownBy(() -> read(type + WHOLE)).hasMessageContaining("DOCTYPE");
  }

  @Test
  void anInstanceCannotBringASchemaOfItsOwn() {
    String own =
        WHOLE.replace(
            "<PlaceOrder>",
            "<PlaceOrder xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'"
                + " xsi:noNamespaceSchemaLocation='http://127.0.0.1:1/x.xsd'>");
    assertThatThrownBy(() -> read(own)).isInstanceOf(MessageException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"\u0000", "\u001f", "\ufffe", "\uffff", "\ud800", "x\udc00"})
  void whatXmlCannotCarryIsNotWritten(String text) {
    assertThatThrownBy(() -> format.write(new PlaceOrder(text, 1, List.of())))
        .isInstanceOf(MessageException.class)
        .hasMessageStartingWith("PlaceOrder as XML: ");
  }

  @Test
  void bytesThatAreNotUtf8AreRefused() {
    byte[] bytes = WHOLE.getBytes(StandardCharsets.UTF_16);
    assertThatThrownBy(() -> format.read(bytes)).isInstanceOf(MessageException.class);
    byte[] latin = WHOLE.replace(">a<", ">\u00e9<").getBytes(StandardCharsets.ISO_8859_1);
    assertThatThrownBy(() -> format.read(latin)).isInstanceOf(MessageException.class);
  }
}
