package assay.supermarket.message;

import java.util.List;

/** Headquarters changes prices; answered by {@link Acknowledgement}. */
@Wire(format = Wire.Format.BINARY, secure = false, compressed = true)
public record PriceUpdate(String sender, long sequence, List<PriceChange> changes)
    implements Numbered {}
