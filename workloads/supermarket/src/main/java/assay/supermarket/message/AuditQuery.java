package assay.supermarket.message;

/** Headquarters audits all groups; answered by {@link AuditAnswer}. */
@Wire(format = Wire.Format.BINARY, secure = false, compressed = false)
public record AuditQuery(String asker) implements Message {}
