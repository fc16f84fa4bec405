package assay.supermarket.message;

import java.util.List;

/**
 * The goods that the other supermarket handed over, which may be fewer: for each transfer that was
 * asked for, numbered from sequence on.
 */
@Wire(format = Wire.Format.XML, secure = false, compressed = false)
public record TransferReply(long sequence, List<Transfer> transfers) implements Message {}
