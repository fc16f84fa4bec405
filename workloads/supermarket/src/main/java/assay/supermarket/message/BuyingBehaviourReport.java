package assay.supermarket.message;

import java.util.List;

/**
 * A customer's receipts so far and what is offered to him: products bought by those who buy alike.
 */
@Wire(format = Wire.Format.XML, secure = true, compressed = true)
public record BuyingBehaviourReport(
    long receipts, long totalCents, List<Association> favouriteCategories, List<Association> offers)
    implements Message {}
