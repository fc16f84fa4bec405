package assay.supermarket.post;

import assay.supermarket.message.Message;
import assay.supermarket.message.Wire;

/** Journal entry: the agent's data went back to the snapshot, its mail did not. */
@Wire(format = Wire.Format.BINARY)
public record Restored(long count) implements Message {}
