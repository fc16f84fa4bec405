package assay.supermarket.store;

import assay.supermarket.message.Message;
import assay.supermarket.message.Wire;

/** Journal entry: a customer brings goods of a kept receipt back. */
@Wire(format = Wire.Format.BINARY)
public record Return(long seed) implements Message {}
