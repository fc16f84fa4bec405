package assay.supermarket.message;

/** How does the company do? Answered by {@link BusinessReport}. */
@Wire(format = Wire.Format.XML, secure = false, compressed = false)
public record BusinessReportQuery(int most) implements Message {}
