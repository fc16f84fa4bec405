package assay.supermarket.post;

import assay.supermarket.message.Message;
import assay.supermarket.message.Wire;

/** Journal entry: the receiver answered all things up to this number. */
@Wire(format = Wire.Format.BINARY)
public record Settled(String to, long through) implements Message {}
