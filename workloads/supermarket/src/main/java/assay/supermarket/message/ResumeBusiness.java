package assay.supermarket.message;

/** The office of a group lets business begin again; answered by {@link BusinessState}. */
@Wire(format = Wire.Format.BINARY, secure = false, compressed = false)
public record ResumeBusiness(long holdSince) implements Message {}
