package assay.supermarket.store;

import assay.supermarket.message.Message;
import assay.supermarket.message.OrderLine;
import assay.supermarket.message.Wire;
import java.util.List;

/** Journal entry: goods are asked of another supermarket. */
@Wire(format = Wire.Format.BINARY)
public record TransferWanted(String from, List<OrderLine> lines) implements Message {}
