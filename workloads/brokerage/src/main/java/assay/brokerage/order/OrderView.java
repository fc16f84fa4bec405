package assay.brokerage.order;

import java.math.BigDecimal;
import java.time.LocalDateTime;

/** An order as the pages show it; {@code completedAt} is null while it is open. */
public record OrderView(
    long id,
    OrderType type,
    OrderState state,
    String symbol,
    int quantity,
    BigDecimal price,
    BigDecimal fee,
    BigDecimal value,
    LocalDateTime openedAt,
    LocalDateTime completedAt) {}
