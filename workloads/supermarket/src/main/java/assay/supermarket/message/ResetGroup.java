package assay.supermarket.message;

/**
 * The office of a group puts its data back to the snapshot; answered by {@link Acknowledgement}.
 */
@Wire(format = Wire.Format.BINARY, secure = false, compressed = false)
public record ResetGroup(long holdSince) implements Message {}
