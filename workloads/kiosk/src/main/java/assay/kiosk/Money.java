package assay.kiosk;

import java.math.BigDecimal;

/** Cents as people write them. */
final class Money {
  private Money() {}

  static String text(long cents) {
    return BigDecimal.valueOf(cents, 2).toPlainString();
  }
}
