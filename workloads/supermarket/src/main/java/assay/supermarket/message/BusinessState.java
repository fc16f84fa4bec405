package assay.supermarket.message;

/**
 * Whether new business is held back (and since when, a nanosecond clock of the group), what is
 * under way, what waits to be sent or answered, and the messages that took effect so far.
 */
@Wire(format = Wire.Format.BINARY, secure = false, compressed = false)
public record BusinessState(boolean held, long holdSince, long underWay, long pending, long effects)
    implements Message {}
