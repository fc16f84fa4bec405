package assay.supermarket.message;

/** A quantity of a product, in pieces. */
public record OrderLine(int product, int quantity) {}
