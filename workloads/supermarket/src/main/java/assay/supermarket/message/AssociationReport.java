package assay.supermarket.message;

import java.util.List;

/** Associations, strongest first, and the receipts that were looked at. */
@Wire(format = Wire.Format.XML, secure = false, compressed = true)
public record AssociationReport(long receipts, long withItem, List<Association> associations)
    implements Message {}
