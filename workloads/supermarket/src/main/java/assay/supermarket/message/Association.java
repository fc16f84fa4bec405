package assay.supermarket.message;

/**
 * A product or category, the receipts that have it together with what was asked for, and how many
 * times more that is than by chance, in thousandths.
 */
public record Association(int item, long together, long liftPermille) {}
