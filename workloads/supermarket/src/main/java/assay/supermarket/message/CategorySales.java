package assay.supermarket.message;

/** What was sold of a category. */
public record CategorySales(int category, long pieces, long cents) {}
