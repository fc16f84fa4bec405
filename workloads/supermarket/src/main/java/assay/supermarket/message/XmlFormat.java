package assay.supermarket.message;

import java.io.CharArrayReader;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ArrayBlockingQueue;
import javax.xml.XMLConstants;
import javax.xml.parsers.ParserConfigurationException;
import javax.xml.parsers.SAXParser;
import javax.xml.parsers.SAXParserFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.transform.stream.StreamSource;
import javax.xml.validation.Schema;
import javax.xml.validation.SchemaFactory;
import org.xml.sax.InputSource;
import org.xml.sax.SAXException;

/**
 * XML 1.0 in UTF-8, checked against the type's schema while it is read: the schema stands in the
 * resources of this package, named like the type. The parser is the JDK's own, whatever else is on
 * the class path, without document types, entities of files and network.
 */
final class XmlFormat implements PayloadFormat {
  private static final String DISALLOW_DOCTYPE =
      "http://apache.org/xml/features/disallow-doctype-decl";

  private final RecordShape shape;
  private final SAXParserFactory parsers;

  /** Making a parser takes longer than reading with it. */
  private final ArrayBlockingQueue<SAXParser> idle =
      new ArrayBlockingQueue<>(2 * Runtime.getRuntime().availableProcessors());

  XmlFormat(RecordShape shape) {
    this.shape = shape;
    this.parsers = strictParsers(schema(shape));
  }

  private static Schema schema(RecordShape shape) {
    URL place = XmlFormat.class.getResource(shape.name() + ".xsd");
    if (place == null) {
      throw new IllegalArgumentException(shape.name() + " has no schema among the resources");
    }
    try (InputStream text = place.openStream()) {
      SchemaFactory factory = SchemaFactory.newDefaultInstance();
      factory.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
      factory.setProperty(XMLConstants.ACCESS_EXTERNAL_DTD, "");
      factory.setProperty(XMLConstants.ACCESS_EXTERNAL_SCHEMA, "");
      return factory.newSchema(new StreamSource(text));
    } catch (SAXException | IOException e) {
      throw new IllegalArgumentException("schema of " + shape.name() + ": " + e.getMessage(), e);
    }
  }

  private static SAXParserFactory strictParsers(Schema schema) {
    SAXParserFactory factory = SAXParserFactory.newDefaultNSInstance();
    try {
      factory.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
      factory.setFeature(DISALLOW_DOCTYPE, true);
      factory.setFeature("http://xml.org/sax/features/external-general-entities", false);
      factory.setFeature("http://xml.org/sax/features/external-parameter-entities", false);
    } catch (ParserConfigurationException | SAXException e) {
      throw new IllegalStateException("the JDK's XML parser refuses to be made safe", e);
    }
    factory.setXIncludeAware(false);
    factory.setSchema(schema);
    return factory;
  }

  @Override
  public byte[] write(Message message) throws MessageException {
    try {
      return utf8(new XmlText(shape).of(message));
    } catch (XMLStreamException | CharacterCodingException e) {
      throw new MessageException(shape.name() + " as XML", e);
    }
  }

  /** Not {@code getBytes}: that would put a question mark for half a surrogate pair. */
  private static byte[] utf8(StringBuilder text) throws CharacterCodingException {
    ByteBuffer bytes =
        StandardCharsets.UTF_8
            .newEncoder()
            .onMalformedInput(CodingErrorAction.REPORT)
            .encode(CharBuffer.wrap(text));
    byte[] exact = new byte[bytes.remaining()];
    bytes.get(exact);
    return exact;
  }

  @Override
  public Message read(byte[] bytes) throws MessageException {
    try {
      SAXParser parser = idle.poll();
      if (parser == null) {
        parser = newParser();
      }
      XmlRecord made = new XmlRecord(shape);
      parser.parse(input(bytes), made);
      // A parser that threw is not used again.
      idle.offer(parser);
      return (Message) made.record();
    } catch (SAXException | IOException | RuntimeException e) {
      // RuntimeException: the record's constructor may refuse its values.
      throw new MessageException(shape.name() + " as XML", e);
    }
  }

  /** Whatever encoding the text says it has, it is read as what it must be. */
  private static InputSource input(byte[] bytes) throws CharacterCodingException {
    CharBuffer text =
        StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPORT)
            .onUnmappableCharacter(CodingErrorAction.REPORT)
            .decode(ByteBuffer.wrap(bytes));
    return new InputSource(new CharArrayReader(text.array(), 0, text.limit()));
  }

  private SAXParser newParser() throws SAXException {
    try {
      synchronized (parsers) {
        return parsers.newSAXParser();
      }
    } catch (ParserConfigurationException e) {
      throw new IllegalStateException("the JDK's XML parser refuses to be made", e);
    }
  }
}
