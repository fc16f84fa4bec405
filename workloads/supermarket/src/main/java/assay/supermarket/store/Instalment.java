package assay.supermarket.store;

import assay.supermarket.message.Message;
import assay.supermarket.message.Wire;

/** Journal entry: a customer pays a part of the debt. */
@Wire(format = Wire.Format.BINARY)
public record Instalment(int customer) implements Message {}
