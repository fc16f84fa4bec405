package assay.supermarket.message;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** Messages with random content, the edges of each kind of value among them. */
public final class RandomMessages {
  private static final int ELEMENTS_MAX = 5;
  private static final long[] LONGS = {0, 1, -1, Long.MIN_VALUE, Long.MAX_VALUE, Integer.MIN_VALUE};

  /** What XML can carry and is easily lost: spaces, ends of lines, markup, pairs of surrogates. */
  private static final int[] CHARACTERS = {
    ' ', '\t', '\n', '\r', '<', '>', '&', '"', '\'', ']', '\u0085', '\u00a0', '\u2028', '\ud7ff',
    '\ue000', '\ufffd', '\ufeff', 0x1f600, 0x10ffff, 'a', 'Z', '0', '\u00e9', '\u20ac'
  };

  private final SplittableRandom random;

  public RandomMessages(long seed) {
    this.random = new SplittableRandom(seed);
  }

  public <T extends Message> T of(Class<T> type) {
    return type.cast(record(RecordShape.of(type)));
  }

  private Object record(RecordShape shape) {
    return shape.make(shape.parts().stream().map(this::value).toArray());
  }

  private Object value(RecordShape.Part part) {
    return switch (part.kind()) {
      case LONG -> random.nextBoolean() ? LONGS[random.nextInt(LONGS.length)] : random.nextLong();
      case INT -> random.nextBoolean() ? random.nextInt(-2, 3) : random.nextInt();
      case BOOLEAN -> random.nextBoolean();
      case STRING -> text();
      case RECORD -> record(part.shape());
      case LIST -> list(part.element());
    };
  }

  private List<Object> list(RecordShape.Part element) {
    List<Object> elements = new ArrayList<>();
    for (int i = random.nextInt(ELEMENTS_MAX); i > 0; i--) {
      elements.add(value(element));
    }
    return elements;
  }

  private String text() {
    return IntStream.range(0, random.nextInt(12))
        .map(i -> CHARACTERS[random.nextInt(CHARACTERS.length)])
        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
        .toString();
  }
}
