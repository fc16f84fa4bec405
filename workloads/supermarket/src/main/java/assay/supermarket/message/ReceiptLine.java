package assay.supermarket.message;

/** One bar code of a receipt. A return has negative quantities. */
public record ReceiptLine(int product, int category, int quantity, long unitCents) {}
