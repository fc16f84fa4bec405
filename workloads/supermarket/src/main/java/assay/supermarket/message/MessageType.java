package assay.supermarket.message;

/** A type of message that can be sent: its name, how it travels, how it becomes bytes. */
public final class MessageType {
  private final RecordShape shape;
  private final Form form;
  private final PayloadFormat format;

  MessageType(Class<? extends Message> type, Form form) {
    this.shape = RecordShape.of(type);
    this.form = form;
    this.format =
        switch (form.format()) {
          case XML -> new XmlFormat(shape);
          case BINARY -> new BinaryFormat(shape);
        };
  }

  public String name() {
    return shape.name();
  }

  public Form form() {
    return form;
  }

  RecordShape shape() {
    return shape;
  }

  PayloadFormat format() {
    return format;
  }
}
