package assay.supermarket.message;

import java.util.List;

/** Receipts for headquarters, numbered from sequence on; answered by {@link Acknowledgement}. */
@Wire(format = Wire.Format.BINARY, secure = true, compressed = true)
public record ReceiptReport(String sender, long sequence, List<Receipt> receipts)
    implements Numbered {}
