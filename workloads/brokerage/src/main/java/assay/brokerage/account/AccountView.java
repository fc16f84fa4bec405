package assay.brokerage.account;

import java.math.BigDecimal;
import java.time.LocalDateTime;

/** An account as the pages show it; {@code lastLogin} is null before the first login. */
public record AccountView(
    int id,
    String userId,
    LocalDateTime openedAt,
    LocalDateTime lastLogin,
    int logins,
    int logouts,
    BigDecimal openingBalance,
    BigDecimal balance,
    long ordersOpened) {}
