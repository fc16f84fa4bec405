package assay.supermarket.message;

import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** A report of one receipt as supermarkets send it, of 60 bar codes. */
final class Receipts {
  private static final int BAR_CODES = 60;

  private Receipts() {}

  static ReceiptReport report() {
    SplittableRandom random = new SplittableRandom(9);
    List<ReceiptLine> lines =
        IntStream.range(0, BAR_CODES)
            .mapToObj(
                i ->
                    new ReceiptLine(
                        random.nextInt(100_000),
                        random.nextInt(100),
                        1 + random.nextInt(3),
                        random.nextLong(50, 5_000)))
            .toList();
    long totalCents = lines.stream().mapToLong(line -> line.quantity() * line.unitCents()).sum();
    Receipt receipt = new Receipt(123_456, "IN_STORE", 54_321, totalCents, lines);
    return new ReceiptReport("main/supermarket/0", 123_456, List.of(receipt));
  }
}
