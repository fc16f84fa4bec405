package assay.supermarket;

import static org.assertj.core.api.Assertions.assertThat;

import assay.supermarket.audit.AuditReport;
import assay.supermarket.post.FileJournal;
import assay.supermarket.post.Journal;
import assay.supermarket.store.Sold;
import assay.supermarket.store.Supermarket;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A group dies under load, in the middle of anything, and comes back with its journal. */
class KillTest {
  private static final List<String> GROUPS = List.of("north", "south");

  @TempDir private Path folder;

  private Journal journal(String group) {
    try {
      return FileJournal.open(
          folder.resolve(group + ".journal"), Backend.journalEntries(), "settings");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void aKilledGroupComesBackAndNothingIsLostOrDoneTwice(int killed) throws Exception {
    long acknowledged = 0;
    try (TestCompany company = new TestCompany(GROUPS, working -> working, this::journal).start()) {
      for (int round = 0; round < 4; round++) {
        List<CompletableFuture<Sold>> sales = sales(company, round);
        // In the middle of it: some are sold, some are not, some messages are under way.
        sales.get(sales.size() / 4).join();
        company.kill(killed);
        company.revive(killed);
        acknowledged += acknowledged(sales);
        acknowledged += company.trade(5);
      }
      AuditReport report = company.first().audit();
      assertThat(report.failed()).as(report.json()).isEmpty();
      // What was done when the group died may have been written down and not acknowledged.
      assertThat(report.totals().get("receipts.count")).isGreaterThanOrEqualTo(acknowledged);
    }
  }

  @Test
  void allGroupsKilledComeBackWithTheSameBooks() throws Exception {
    List<?> before;
    try (TestCompany company = new TestCompany(GROUPS, working -> working, this::journal).start()) {
      company.trade(30);
      company.first().reset();
      company.trade(30);
      before = company.first().books().agents();
    }
    try (TestCompany company = new TestCompany(GROUPS, working -> working, this::journal).start()) {
      assertThat(company.first().books().agents())
          .usingRecursiveFieldByFieldElementComparator()
          .isEqualTo(before);
    }
  }

  private static List<CompletableFuture<Sold>> sales(TestCompany company, int round) {
    List<CompletableFuture<Sold>> sales = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      for (Backend backend : company.backends()) {
        Supermarket supermarket = backend.supermarkets().get(i % 2);
        int customer = (i * 7 + round) % TestCompany.SIZES.customers();
        List<Long> basket = backend.assortment().basket(i * 31L + round, customer);
        sales.add(
            (i % 4 == 0
                    ? supermarket.buyOnline(customer, basket, supermarket.partners().get(0), 5)
                    : supermarket.buyInStore(customer, basket, i % 2 == 0))
                .toCompletableFuture());
      }
    }
    return sales;
  }

  /** Those that were done; those of the killed group may fail. */
  private static long acknowledged(List<CompletableFuture<Sold>> sales) {
    return sales.stream()
        .map(sale -> sale.handle((sold, failure) -> failure == null && sold.receipt() > 0))
        .filter(CompletableFuture::join)
        .count();
  }
}
