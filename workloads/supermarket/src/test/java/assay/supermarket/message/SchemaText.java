package assay.supermarket.message;

/** The schema that a type of message must have: what {@link RecordShape} says, in XSD 1.0. */
final class SchemaText {
  private final StringBuilder out = new StringBuilder();

  static String of(RecordShape shape) {
    SchemaText text = new SchemaText();
    text.line(0, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    text.line(0, "<xs:schema xmlns:xs=\"http://www.w3.org/2001/XMLSchema\">");
    text.record(1, shape, "");
    text.line(0, "</xs:schema>");
    return text.out.toString();
  }

  private void record(int depth, RecordShape shape, String occurs) {
    line(depth, "<xs:element name=\"" + shape.name() + "\"" + occurs + ">");
    line(depth + 1, "<xs:complexType>");
    line(depth + 2, "<xs:sequence>");
    shape.parts().forEach(part -> part(depth + 3, part, ""));
    line(depth + 2, "</xs:sequence>");
    line(depth + 1, "</xs:complexType>");
    line(depth, "</xs:element>");
  }

  private void part(int depth, RecordShape.Part part, String occurs) {
    switch (part.kind()) {
      case RECORD -> record(depth, part.shape(), occurs);
      case LIST -> {
        line(depth, "<xs:element name=\"" + part.name() + "\">");
        line(depth + 1, "<xs:complexType>");
        line(depth + 2, "<xs:sequence>");
        part(depth + 3, part.element(), " minOccurs=\"0\" maxOccurs=\"unbounded\"");
        line(depth + 2, "</xs:sequence>");
        line(depth + 1, "</xs:complexType>");
        line(depth, "</xs:element>");
      }
      default -> {
        String type = simple(part.kind());
        line(depth, "<xs:element name=\"%s\" type=\"%s\"%s/>".formatted(part.name(), type, occurs));
      }
    }
  }

  private static String simple(RecordShape.Kind kind) {
    return switch (kind) {
      case LONG -> "xs:long";
      case INT -> "xs:int";
      case BOOLEAN -> "xs:boolean";
      case STRING -> "xs:string";
      default -> throw new IllegalArgumentException(kind + " is no simple type");
    };
  }

  private void line(int depth, String text) {
    out.append("  ".repeat(depth)).append(text).append('\n');
  }
}
