package assay.supermarket.store;

/**
 * What became of a purchase or return.
 *
 * @param receipt its number; 0 when there was nothing to sell or bring back
 * @param missing bar codes whose product had run out
 */
public record Sold(long receipt, int pieces, int missing, long totalCents, boolean onCredit) {}
