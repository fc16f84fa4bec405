package assay.supermarket.message;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.xml.sax.Attributes;
import org.xml.sax.SAXException;
import org.xml.sax.SAXParseException;
import org.xml.sax.helpers.DefaultHandler;

/**
 * Makes a record of the parser's events. The schema has been checked before an event comes here;
 * what it should have excluded is refused here all the same.
 */
final class XmlRecord extends DefaultHandler {
  private static final class Open {
    final RecordShape.Part part;
    final List<Object> values;

    Open(RecordShape.Part part) {
      this.part = part;
      this.values = new ArrayList<>();
    }

    /** What the next element within this one must be. */
    RecordShape.Part next() {
      return switch (part.kind()) {
        case LIST -> part.element();
        case RECORD ->
            values.size() < part.shape().parts().size()
                ? part.shape().parts().get(values.size())
                : null;
        default -> null;
      };
    }
  }

  private final RecordShape.Part root;
  private final Deque<Open> open = new ArrayDeque<>();
  private final StringBuilder text = new StringBuilder();
  private Object made;

  XmlRecord(RecordShape shape) {
    this.root = new RecordShape.Part(shape.name(), RecordShape.Kind.RECORD, null, shape, null);
  }

  Object record() throws SAXException {
    if (made == null) {
      throw new SAXException("the text ends within " + root.name());
    }
    return made;
  }

  @Override
  public void startElement(String space, String name, String qualified, Attributes attributes)
      throws SAXException {
    RecordShape.Part next = open.isEmpty() ? root : open.getLast().next();
    if (next == null || !next.name().equals(name) || attributes.getLength() > 0) {
      throw new SAXException("element " + name + " is not expected here");
    }
    open.addLast(new Open(next));
    text.setLength(0);
  }

  @Override
  public void characters(char[] characters, int from, int length) {
    text.append(characters, from, length);
  }

  @Override
  public void endElement(String space, String name, String qualified) throws SAXException {
    Open done = open.removeLast();
    Object value =
        switch (done.part.kind()) {
          case RECORD -> record(done);
          case LIST -> List.copyOf(done.values);
          case STRING -> text.toString();
          case LONG -> Long.valueOf(text.toString().strip());
          case INT -> Integer.valueOf(text.toString().strip());
          case BOOLEAN -> truth(text.toString().strip());
        };
    if (open.isEmpty()) {
      made = value;
    } else {
      open.getLast().values.add(value);
    }
  }

  private static Object record(Open done) throws SAXException {
    RecordShape shape = done.part.shape();
    if (done.values.size() != shape.parts().size()) {
      throw new SAXException("not all of " + shape.name());
    }
    return shape.make(done.values.toArray());
  }

  /** The lexical forms of xs:boolean. */
  private static Boolean truth(String word) throws SAXException {
    return switch (word) {
      case "true", "1" -> true;
      case "false", "0" -> false;
      default -> throw new SAXException(word + " is neither true nor false");
    };
  }

  /** Not valid against the schema. */
  @Override
  public void error(SAXParseException e) throws SAXException {
    throw e;
  }
}
