package assay.supermarket.message;

import java.util.List;

/**
 * Sales over the receipts that headquarters keeps: all, by category, and the products sold most.
 */
@Wire(format = Wire.Format.XML, secure = true, compressed = true)
public record BusinessReport(
    long receipts,
    long pieces,
    long cents,
    List<CategorySales> categories,
    List<Association> products)
    implements Message {}
