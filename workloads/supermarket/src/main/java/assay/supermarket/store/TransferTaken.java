package assay.supermarket.store;

import assay.supermarket.message.Message;
import assay.supermarket.message.Transfer;
import assay.supermarket.message.Wire;
import java.util.List;

/** Journal entry: goods came from another supermarket. */
@Wire(format = Wire.Format.BINARY)
public record TransferTaken(String from, long through, List<Transfer> transfers)
    implements Message {}
