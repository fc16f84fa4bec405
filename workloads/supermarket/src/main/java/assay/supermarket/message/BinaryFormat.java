package assay.supermarket.message;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.util.JsonRecyclerPools;
import com.fasterxml.jackson.dataformat.cbor.CBORFactory;
import com.fasterxml.jackson.dataformat.cbor.CBORGenerator;
import com.fasterxml.jackson.dataformat.cbor.CBORParser;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * CBOR (RFC 8949). Records are arrays of their components in order: names would take more bytes
 * than what they name. Nothing is converted in reading: a component is of its type or refused, and
 * so is a record with a component too few or too many. (Jackson's mapping of records passes over
 * what is too many and makes text of numbers; so only its parser and generator are used.)
 */
final class BinaryFormat implements PayloadFormat {
  private static final int NESTING_MAX = 16;

  private static final CBORFactory FACTORY =
      CBORFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(NESTING_MAX)
                  .maxDocumentLength(Codec.PAYLOAD_BYTES_MAX)
                  .maxStringLength(Codec.PAYLOAD_BYTES_MAX)
                  .build())
          // Not by thread, as is the default: threads may be virtual, and many.
          .recyclerPool(JsonRecyclerPools.newBoundedPool(64))
          .build();

  private final RecordShape shape;

  BinaryFormat(RecordShape shape) {
    this.shape = shape;
  }

  @Override
  public byte[] write(Message message) throws MessageException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(512);
    try (CBORGenerator out = FACTORY.createGenerator(bytes)) {
      write(out, shape, message);
    } catch (IOException e) {
      throw new MessageException(shape.name() + " as CBOR", e);
    }
    return bytes.toByteArray();
  }

  private static void write(CBORGenerator out, RecordShape shape, Object record)
      throws IOException {
    out.writeStartArray(record, shape.parts().size());
    for (RecordShape.Part part : shape.parts()) {
      write(out, part, RecordShape.get(part, record));
    }
    out.writeEndArray();
  }

  private static void write(CBORGenerator out, RecordShape.Part part, Object value)
      throws IOException {
    switch (part.kind()) {
      case LONG -> out.writeNumber((Long) value);
      case INT -> out.writeNumber((Integer) value);
      case BOOLEAN -> out.writeBoolean((Boolean) value);
      case STRING -> out.writeString((String) value);
      case RECORD -> write(out, part.shape(), value);
      case LIST -> {
        List<?> elements = (List<?>) value;
        out.writeStartArray(elements, elements.size());
        for (Object element : elements) {
          write(out, part.element(), element);
        }
        out.writeEndArray();
      }
    }
  }

  @Override
  public Message read(byte[] bytes) throws MessageException {
    try (CBORParser in = FACTORY.createParser(bytes)) {
      in.nextToken();
      Object message = record(in, shape);
      if (in.nextToken() != null) {
        throw new IOException("something follows the message");
      }
      return (Message) message;
    } catch (IOException | RuntimeException e) {
      // RuntimeException: the record's constructor may refuse its values.
      throw new MessageException(shape.name() + " as CBOR", e);
    }
  }

  /** The record whose array begins with the current token. */
  private static Object record(CBORParser in, RecordShape shape) throws IOException {
    require(in, JsonToken.START_ARRAY, shape.name());
    Object[] values = new Object[shape.parts().size()];
    for (int i = 0; i < values.length; i++) {
      in.nextToken();
      values[i] = value(in, shape.parts().get(i));
    }
    in.nextToken();
    require(in, JsonToken.END_ARRAY, shape.name());
    return shape.make(values);
  }

  private static Object value(CBORParser in, RecordShape.Part part) throws IOException {
    return switch (part.kind()) {
      case LONG -> number(in, part.name(), Long.MIN_VALUE, Long.MAX_VALUE);
      case INT -> (int) number(in, part.name(), Integer.MIN_VALUE, Integer.MAX_VALUE);
      case BOOLEAN -> truth(in, part.name());
      case STRING -> {
        require(in, JsonToken.VALUE_STRING, part.name());
        yield in.getText();
      }
      case RECORD -> record(in, part.shape());
      case LIST -> list(in, part);
    };
  }

  private static List<Object> list(CBORParser in, RecordShape.Part part) throws IOException {
    require(in, JsonToken.START_ARRAY, part.name());
    List<Object> elements = new ArrayList<>();
    while (in.nextToken() != JsonToken.END_ARRAY) {
      elements.add(value(in, part.element()));
    }
    return Collections.unmodifiableList(elements);
  }

  private static long number(CBORParser in, String name, long min, long max) throws IOException {
    require(in, JsonToken.VALUE_NUMBER_INT, name);
    boolean fits = in.getNumberType() != JsonParser.NumberType.BIG_INTEGER;
    if (!fits || in.getLongValue() < min || in.getLongValue() > max) {
      throw new IOException(name + " is too large a number");
    }
    return in.getLongValue();
  }

  private static boolean truth(CBORParser in, String name) throws IOException {
    if (in.currentToken() != JsonToken.VALUE_TRUE) {
      require(in, JsonToken.VALUE_FALSE, name);
    }
    return in.getBooleanValue();
  }

  private static void require(CBORParser in, JsonToken token, String name) throws IOException {
    if (in.currentToken() != token) {
      throw new IOException(
          "%s at byte %d: %s instead of %s"
              .formatted(name, in.currentLocation().getByteOffset(), in.currentToken(), token));
    }
  }
}
