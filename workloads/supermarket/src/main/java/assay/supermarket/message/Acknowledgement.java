package assay.supermarket.message;

/** The answer to a numbered message: it and all before it have taken effect. */
@Wire(format = Wire.Format.BINARY, secure = false, compressed = false)
public record Acknowledgement(long sequence) implements Message {}
