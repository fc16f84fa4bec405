package assay.supermarket.message;

/** Is anything under way in this group? Answered by {@link BusinessState}. */
@Wire(format = Wire.Format.BINARY, secure = false, compressed = false)
public record BusinessQuery(long holdSince) implements Message {}
