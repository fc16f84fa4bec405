package assay.supermarket.message;

/**
 * The office of a group lets no new business begin, for at most this long; answered by {@link
 * BusinessState}.
 */
@Wire(format = Wire.Format.BINARY, secure = false, compressed = false)
public record HoldBusiness(long forMs) implements Message {}
