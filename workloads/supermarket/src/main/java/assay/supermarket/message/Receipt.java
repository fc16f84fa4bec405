package assay.supermarket.message;

import java.util.List;

/**
 * What a customer bought or, with negative amounts, brought back. The number counts the receipts of
 * a supermarket.
 */
public record Receipt(
    long number, String kind, int customer, long totalCents, List<ReceiptLine> lines) {}
