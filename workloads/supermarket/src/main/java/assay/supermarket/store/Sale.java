package assay.supermarket.store;

import assay.supermarket.message.Message;
import assay.supermarket.message.Wire;
import java.util.List;

/** Journal entry: what a customer bought. */
@Wire(format = Wire.Format.BINARY)
public record Sale(String kind, int customer, boolean onCredit, List<Long> barCodes)
    implements Message {}
