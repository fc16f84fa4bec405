package assay.supermarket.headquarters;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import assay.supermarket.data.Assortment;
import assay.supermarket.message.Association;
import assay.supermarket.message.AssociationReport;
import assay.supermarket.message.BusinessReport;
import assay.supermarket.message.CategorySales;
import assay.supermarket.message.Receipt;
import assay.supermarket.message.ReceiptLine;
import assay.supermarket.model.Sizes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Against counts made by hand, and by other code over receipts as they were before mining. */
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
  void columnsAndBusinessAreThoseOfTheReceiptsLines() {
    List<ReceiptLine> lines =
        List.of(
            new ReceiptLine(107, 7, 2, 199),
            new ReceiptLine(128, 8, 3, 1_250),
            new ReceiptLine(149, 9, 5, 75));
    Receipt receipt = new Receipt(12, "in-store", 4, 4_523, lines);
    MinedReceipt mined = new MinedReceipt(receipt);
    assertThat(mined.lines()).isEqualTo(3);
    assertThat(mined.products()).containsExactly(107, 128, 149);
    assertThat(mined.categories()).containsExactly(7, 8, 9);
    assertThat(mined.quantities()).containsExactly(2, 3, 5);
    assertThat(mined.unitCents()).containsExactly(199, 1_250, 75);
    BusinessReport business = new Mine(List.of(mined), ASSORTMENT).business(2);
    assertThat(business.receipts()).isEqualTo(1);
    assertThat(business.pieces()).isEqualTo(10);
    assertThat(business.cents()).isEqualTo(receipt.totalCents());
    assertThat(business.categories().stream().filter(sales -> sales.pieces() != 0))
        .containsExactly(
            new CategorySales(7, 2, 398),
            new CategorySales(8, 3, 3_750),
            new CategorySales(9, 5, 375));
    assertThat(business.products())
        .extracting(Association::item, Association::together)
        .containsExactly(tuple(149, 5L), tuple(128, 3L));
  }

  @Test
  void drawnReceiptsGiveWhatASlowCountGives() {
    List<Receipt> receipts = drawn(200);
    Mine mine = new Mine(receipts.stream().map(MinedReceipt::new).toList(), ASSORTMENT);
    AssociationReport report = mine.withCategory(7, 1_000);
    assertThat(report.withItem()).isEqualTo(together(receipts, Set.of(7)));
    assertThat(report.associations()).isNotEmpty();
    for (Association found : report.associations()) {
      assertThat(found.together()).isEqualTo(together(receipts, Set.of(7, found.item())));
    }
    BusinessReport business = mine.business(5);
    assertThat(business.cents()).isEqualTo(receipts.stream().mapToLong(Receipt::totalCents).sum());
    assertThat(business.categories().stream().mapToLong(CategorySales::cents).sum())
        .isEqualTo(business.cents());
    assertThat(business.products().get(0).together())
        .isEqualTo(
            IntStream.range(0, 200)
                .mapToLong(product -> pieces(receipts, product))
                .max()
                .orElseThrow());
  }

  /** The receipts that headquarters begins with are of one piece each, at the base price. */
  @Test
  void theReceiptsOfTheBeginningAddUpToBasePrices() {
    List<MinedReceipt> receipts = new ReceiptWindow(ASSORTMENT).receipts();
    BusinessReport business = new Mine(receipts, ASSORTMENT).business(1);
    int[] products = receipts.stream().flatMapToInt(r -> IntStream.of(r.products())).toArray();
    assertThat(business.pieces()).isEqualTo(products.length);
    assertThat(business.cents())
        .isEqualTo(IntStream.of(products).mapToLong(ASSORTMENT::basePriceCents).sum());
  }

  /** Baskets, of each product one to three pieces at a price of its own. */
  private static List<Receipt> drawn(int count) {
    SplittableRandom random = new SplittableRandom(9);
    return IntStream.range(0, count).mapToObj(number -> receipt(number, random)).toList();
  }

  private static Receipt receipt(int number, SplittableRandom random) {
    List<ReceiptLine> lines = new ArrayList<>();
    long totalCents = 0;
    for (long code : ASSORTMENT.basket(random.nextLong(), number % 20)) {
      int product = ASSORTMENT.productOf(code);
      int quantity = 1 + random.nextInt(3);
      long unitCents = random.nextLong(50, 5_000);
      lines.add(new ReceiptLine(product, ASSORTMENT.categoryOf(product), quantity, unitCents));
      totalCents += unitCents * quantity;
    }
    return new Receipt(number, "in-store", number % 20, totalCents, lines);
  }

  private static long pieces(List<Receipt> receipts, int product) {
    return receipts.stream()
        .flatMap(receipt -> receipt.lines().stream())
        .filter(line -> line.product() == product)
        .mapToLong(ReceiptLine::quantity)
        .sum();
  }

  private static long together(List<Receipt> receipts, Set<Integer> categories) {
    return receipts.stream()
        .filter(
            r ->
                categories.stream()
                    .allMatch(c -> r.lines().stream().anyMatch(line -> line.category() == c)))
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
