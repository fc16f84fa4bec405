package assay.supermarket.message;

import java.util.List;

/** The goods that the other supermarket handed over, which may be fewer. */
@Wire(format = Wire.Format.XML, secure = false, compressed = false)
public record TransferReply(long sequence, List<OrderLine> lines) implements Message {}
