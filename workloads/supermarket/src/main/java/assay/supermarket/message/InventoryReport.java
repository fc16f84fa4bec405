package assay.supermarket.message;

import java.util.List;

/** The books of a group. */
@Wire(format = Wire.Format.BINARY, secure = true, compressed = true)
public record InventoryReport(List<AgentBooks> agents) implements Message {}
