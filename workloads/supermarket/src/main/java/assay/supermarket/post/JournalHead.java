package assay.supermarket.post;

import assay.supermarket.message.Message;
import assay.supermarket.message.Wire;

/** The first entry of a journal: what the others are relative to. */
@Wire(format = Wire.Format.BINARY)
public record JournalHead(String settings) implements Message {}
