package assay.supermarket.store;

import static org.assertj.core.api.Assertions.assertThat;

import assay.supermarket.message.Receipt;
import assay.supermarket.message.ReceiptLine;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Against the receipts themselves, which it keeps only parts of. */
class ReturnableTest {
  private static final int CAPACITY = 7;
  private static final int LINES_MAX = 3;

  private final SplittableRandom random = new SplittableRandom(11);

  @Test
  void takesEachOfTheLatestReceiptsOnce() {
    for (int receipts = 0; receipts < 4 * CAPACITY; receipts++) {
      Returnable returnable = new Returnable(CAPACITY, LINES_MAX);
      Map<Integer, Receipt> latest = new HashMap<>(); // by customer, of whom each has one
      for (int customer = 0; customer < receipts; customer++) {
        Receipt receipt = receipt(customer);
        returnable.add(receipt);
        latest.put(customer, receipt);
        latest.remove(customer - CAPACITY);
      }
      while (!latest.isEmpty()) {
        Returnable.Kept kept = returnable.take(random.nextLong());
        Receipt bought = latest.remove(kept.customer());
        assertThat(kept.lines())
            .isEqualTo(bought.lines().subList(0, Math.min(LINES_MAX, bought.lines().size())));
      }
      assertThat(returnable.take(random.nextLong())).isNull();
    }
  }

  @Test
  void keepsNothingOfWhatWasWrittenOverOrCleared() {
    Returnable returnable = new Returnable(1, LINES_MAX);
    returnable.add(new Receipt(1, "in-store", 4, 0, lines(3)));
    Receipt shorter = new Receipt(2, "in-store", 5, 0, lines(1));
    returnable.add(shorter);
    assertThat(returnable.take(0)).isEqualTo(new Returnable.Kept(5, shorter.lines()));
    returnable.add(shorter);
    returnable.clear();
    assertThat(returnable.take(0)).isNull();
  }

  private Receipt receipt(int customer) {
    return new Receipt(customer + 1, "in-store", customer, 0, lines(1 + random.nextInt(6)));
  }

  private List<ReceiptLine> lines(int count) {
    return IntStream.range(0, count)
        .mapToObj(
            i ->
                new ReceiptLine(
                    random.nextInt(1_000),
                    random.nextInt(100),
                    1 + random.nextInt(3),
                    random.nextLong(10_000)))
        .toList();
  }
}
