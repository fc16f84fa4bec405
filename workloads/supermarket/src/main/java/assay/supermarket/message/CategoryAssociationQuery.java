package assay.supermarket.message;

/** Which categories are bought together with this one? Answered by {@link AssociationReport}. */
@Wire(format = Wire.Format.XML, secure = false, compressed = false)
public record CategoryAssociationQuery(int category, int most) implements Message {}
