package assay.supermarket.message;

import java.util.List;

/**
 * A supermarket asks another for goods of an online purchase; answered by {@link TransferReply}.
 */
@Wire(format = Wire.Format.XML, secure = true, compressed = false)
public record TransferRequest(String sender, long sequence, List<OrderLine> lines)
    implements Numbered {}
