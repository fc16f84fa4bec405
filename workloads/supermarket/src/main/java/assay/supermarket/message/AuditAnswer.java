package assay.supermarket.message;

/** What the audit found, as JSON. */
@Wire(format = Wire.Format.BINARY, secure = false, compressed = true)
public record AuditAnswer(boolean holds, String report) implements Message {}
