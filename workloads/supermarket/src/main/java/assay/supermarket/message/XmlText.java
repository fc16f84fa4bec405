package assay.supermarket.message;

import java.io.IOException;
import java.io.Writer;
import java.util.List;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;

/**
 * Writes one record as XML: an element for each component, in order; for a list an element that has
 * one for each of the list's elements.
 */
final class XmlText {
  private static final XMLOutputFactory FACTORY = XMLOutputFactory.newDefaultFactory();

  private final RecordShape shape;

  XmlText(RecordShape shape) {
    this.shape = shape;
  }

  StringBuilder of(Object record) throws XMLStreamException {
    StringBuilder text = new StringBuilder(2048);
    XMLStreamWriter writer = FACTORY.createXMLStreamWriter(new Appended(text));
    record(writer, shape.name(), shape, record);
    writer.flush();
    return text;
  }

  private static void record(XMLStreamWriter xml, String name, RecordShape shape, Object record)
      throws XMLStreamException {
    xml.writeStartElement(name);
    for (RecordShape.Part part : shape.parts()) {
      Object value = RecordShape.get(part, record);
      if (part.kind() == RecordShape.Kind.LIST) {
        list(xml, part, (List<?>) value);
      } else {
        scalar(xml, part.name(), value);
      }
    }
    xml.writeEndElement();
  }

  private static void list(XMLStreamWriter xml, RecordShape.Part part, List<?> elements)
      throws XMLStreamException {
    RecordShape.Part each = part.element();
    xml.writeStartElement(part.name());
    for (Object element : elements) {
      if (each.kind() == RecordShape.Kind.RECORD) {
        record(xml, each.name(), each.shape(), element);
      } else {
        scalar(xml, each.name(), element);
      }
    }
    xml.writeEndElement();
  }

  private static void scalar(XMLStreamWriter xml, String name, Object value)
      throws XMLStreamException {
    xml.writeStartElement(name);
    if (value instanceof String text) {
      text(xml, text);
    } else {
      xml.writeCharacters(String.valueOf(value));
    }
    xml.writeEndElement();
  }

  /**
   * A reader takes a carriage return for a line feed unless it is written as a reference (XML 1.0,
   * 2.11), and the JDK's writer does not do that by itself.
   */
  private static void text(XMLStreamWriter xml, String text) throws XMLStreamException {
    int from = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '\r') {
        xml.writeCharacters(text.substring(from, i));
        xml.writeEntityRef("#13");
        from = i + 1;
      } else if ((c < ' ' && c != '\t' && c != '\n') || c >= '\uFFFE') {
        throw new XMLStreamException("XML has no character U+%04X".formatted((int) c));
      }
    }
    xml.writeCharacters(from == 0 ? text : text.substring(from));
  }

  /** {@link java.io.StringWriter} takes a lock for every piece. */
  private static final class Appended extends Writer {
    private final StringBuilder text;

    Appended(StringBuilder text) {
      this.text = text;
    }

    @Override
    public void write(int c) {
      text.append((char) c);
    }

    @Override
    public void write(String piece) {
      text.append(piece);
    }

    @Override
    public void write(String piece, int from, int length) {
      text.append(piece, from, from + length);
    }

    @Override
    public void write(char[] piece, int from, int length) {
      text.append(piece, from, length);
    }

    @Override
    public void flush() {}

    @Override
    public void close() throws IOException {}
  }
}
