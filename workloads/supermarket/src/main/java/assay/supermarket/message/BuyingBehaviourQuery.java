package assay.supermarket.message;

/** What does this customer of this supermarket buy? Answered by {@link BuyingBehaviourReport}. */
@Wire(format = Wire.Format.XML, secure = true, compressed = false)
public record BuyingBehaviourQuery(String supermarket, int customer, int most) implements Message {}
