package assay.supermarket.message;

/** A new price of a product, and the discount on it in thousandths. */
public record PriceChange(int product, long priceCents, int discountPermille) {}
