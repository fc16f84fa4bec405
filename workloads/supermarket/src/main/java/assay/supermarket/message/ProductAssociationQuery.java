package assay.supermarket.message;

/** Which products are bought together with this one? Answered by {@link AssociationReport}. */
@Wire(format = Wire.Format.XML, secure = false, compressed = false)
public record ProductAssociationQuery(int product, int most) implements Message {}
