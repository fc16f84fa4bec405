package assay.supermarket.message;

import java.util.List;

/** A supermarket orders what runs low; answered by {@link Acknowledgement}. */
@Wire(format = Wire.Format.XML, secure = true, compressed = false)
public record PlaceOrder(String sender, long sequence, List<OrderLine> lines) implements Numbered {}
