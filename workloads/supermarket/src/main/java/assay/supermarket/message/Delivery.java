package assay.supermarket.message;

import java.util.List;

/** A supplier delivers what was ordered; answered by {@link Acknowledgement}. */
@Wire(format = Wire.Format.XML, secure = false, compressed = true)
public record Delivery(String sender, long sequence, long orderSequence, List<OrderLine> lines)
    implements Numbered {}
