package assay.supermarket.message;

import java.util.List;

/**
 * A supermarket asks another for goods of online purchases, numbered from sequence on; answered by
 * {@link TransferReply}.
 */
@Wire(format = Wire.Format.XML, secure = true, compressed = false)
public record TransferRequest(String sender, long sequence, List<Transfer> transfers)
    implements Numbered {}
