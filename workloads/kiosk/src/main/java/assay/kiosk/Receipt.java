package assay.kiosk;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.zip.CRC32;

/** What a customer bought at once; it never changes. */
final class Receipt {
  final long number;
  final int customer;
  final long totalCents;
  final long checksum;

  private final Product[] products;
  private final int[] pieces;

  Receipt(long number, int customer, Product[] products, int[] pieces) {
    this.number = number;
    this.customer = customer;
    this.products = products;
    this.pieces = pieces;
    this.totalCents = sum();
    this.checksum = checksumOf(lines());
  }

  /** Whether total and checksum are those of its lines. */
  boolean isRight() {
    return totalCents == sum() && checksum == checksumOf(lines());
  }

  long piecesInAll() {
    long all = 0;
    for (int some : pieces) {
      all += some;
    }
    return all;
  }

  private long sum() {
    long cents = 0;
    for (int i = 0; i < products.length; i++) {
      cents += products[i].priceCents * pieces[i];
    }
    return cents;
  }

  private String lines() {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < products.length; i++) {
      text.append(pieces[i]).append(" x ").append(products[i].name);
      text.append(" at ").append(Money.text(products[i].priceCents)).append('\n');
    }
    return text.toString();
  }

  private static long checksumOf(String text) {
    CRC32 checksum = new CRC32();
    byte[] bytes = text.getBytes(UTF_8);
    checksum.update(bytes, 0, bytes.length);
    return checksum.getValue();
  }

  Json json() {
    Json lines = Json.array();
    for (int i = 0; i < products.length; i++) {
      lines.add(
          Json.object()
              .with("product", products[i].name)
              .with("pieces", pieces[i])
              .with("price", Money.text(products[i].priceCents)));
    }
    return Json.object()
        .with("number", number)
        .with("customer", customer)
        .with("total", Money.text(totalCents))
        .with("checksum", Long.toHexString(checksum))
        .with("lines", lines);
  }
}
