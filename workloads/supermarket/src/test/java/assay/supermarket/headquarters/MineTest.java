package assay.supermarket.headquarters;

import static org.assertj.core.api.Assertions.assertThat;

import assay.supermarket.data.Assortment;
import assay.supermarket.message.Association;
import assay.supermarket.message.AssociationReport;
import assay.supermarket.message.BusinessReport;
import assay.supermarket.message.CategorySales;
import assay.supermarket.message.Receipt;
import assay.supermarket.message.ReceiptLine;
import assay.supermarket.model.Sizes;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Against counts made by hand, and by other code over drawn receipts. */
class MineTest {
  private static final Assortment ASSORTMENT = new Assortment(new Sizes(3, 20, 200, 300, 10));

  @Test
  void countsAndLiftOfAHandfulOfReceipts() {
    Mine mine =
        new Mine(
            List.of(mined(1, 2), mined(1, 2, 2), mined(1, 3), mined(2), mined(4, 4)), ASSORTMENT);
    AssociationReport report = mine.withProduct(1, 10);
    assertThat(report.receipts()).isEqualTo(5);
    assertThat(report.withItem()).isEqualTo(3);
    // Product 2 is in 2 of the 3, and in 3 of all 5: (2/3) / (3/5) = 1.111. Product 3 is there once
    // only.
    assertThat(report.associations()).containsExactly(new Association(2, 2, 1_111));
    assertThat(mine.bestSold(2)).containsExactly(2, 1);
    assertThat(mine.bestSold(0)).isEmpty();
  }

  @Test
  void drawnReceiptsGiveWhatASlowCountGives() {
    List<MinedReceipt> receipts = new ReceiptWindow(ASSORTMENT).receipts();
    Mine mine = new Mine(receipts, ASSORTMENT);
    AssociationReport report = mine.withCategory(7, 1_000);
    assertThat(report.withItem()).isEqualTo(together(receipts, Set.of(7)));
    assertThat(report.associations()).isNotEmpty();
    for (Association found : report.associations()) {
      assertThat(found.together()).isEqualTo(together(receipts, Set.of(7, found.item())));
    }
    BusinessReport business = mine.business(5);
    assertThat(business.cents()).isEqualTo(receipts.stream().mapToLong(MineTest::cents).sum());
    assertThat(business.categories().stream().mapToLong(CategorySales::cents).sum())
        .isEqualTo(business.cents());
    assertThat(business.products().get(0).together())
        .isEqualTo(
            IntStream.range(0, 200)
                .mapToLong(p -> products(receipts).filter(product -> product == p).count())
                .max()
                .orElseThrow());
  }

  private static long cents(MinedReceipt receipt) {
    return IntStream.range(0, receipt.lines())
        .mapToLong(line -> receipt.unitCents()[line] * receipt.quantities()[line])
        .sum();
  }

  private static IntStream products(List<MinedReceipt> receipts) {
    return receipts.stream().flatMapToInt(r -> IntStream.of(r.products()));
  }

  private static long together(List<MinedReceipt> receipts, Set<Integer> categories) {
    return receipts.stream()
        .filter(
            r ->
                categories.stream()
                    .allMatch(
                        c -> IntStream.of(r.categories()).anyMatch(category -> category == c)))
        .count();
  }

  private static MinedReceipt mined(int... products) {
    List<ReceiptLine> lines =
        IntStream.of(products)
            .mapToObj(p -> new ReceiptLine(p, ASSORTMENT.categoryOf(p), 1, 100))
            .toList();
    return new MinedReceipt(new Receipt(1, "in-store", 1, 100L * products.length, lines));
  }
}
