package assay.supermarket.store;

import java.util.List;

/** What a customer bought. */
public record Sale(String kind, int customer, boolean onCredit, List<Long> barCodes) {}
