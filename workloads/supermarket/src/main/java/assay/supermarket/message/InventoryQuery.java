package assay.supermarket.message;

/** The office of a group shows the books of its agents; answered by {@link InventoryReport}. */
@Wire(format = Wire.Format.BINARY, secure = false, compressed = false)
public record InventoryQuery(String asker) implements Message {}
