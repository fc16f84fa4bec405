package assay.supermarket.message;

import java.util.List;

/** The goods that one online purchase gets from another supermarket. */
public record Transfer(List<OrderLine> lines) {}
