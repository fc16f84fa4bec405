package assay.supermarket;

import static org.assertj.core.api.Assertions.assertThat;

import assay.supermarket.store.Sold;
import assay.supermarket.store.Supermarket;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Mail moves on threads of its own. */
class MailTest {
  @Test
  void receiptsOrdersAndDeliveriesAreNotKeptByWhatIsAskedOfSupermarketsAndMined() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    try (TestCompany company = new TestCompany("north")) {
      long receipts = company.trade(200);
      assertThat(company.first().pending()).isGreaterThanOrEqualTo(receipts);
      company.occupy(end);
      company.start();
      long untilNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
      while (company.first().pending() > 0 && System.nanoTime() < untilNs) {
        Thread.sleep(5);
      }
      assertThat(company.first().pending()).isZero();
    } finally {
      end.countDown();
    }
  }

  @Test
  void customersWaitAtTheTillWhileManyReceiptsWait() throws Exception {
    try (TestCompany company = new TestCompany("north")) { // not started: mail only collects
      Supermarket supermarket = company.first().supermarkets().get(0);
      int receipts = 0;
      for (int i = 0; receipts < Supermarket.RECEIPTS_WAITING_MANY; i++) {
        receipts += buyOnePiece(supermarket, i).pieces(); // none where a product has run out
      }
      long beganNs = System.nanoTime();
      buyOnePiece(supermarket, 0);
      assertThat(System.nanoTime() - beganNs)
          .isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(Supermarket.TILL_WAIT_MS));
    }
  }

  private static Sold buyOnePiece(Supermarket supermarket, int i) {
    long barCode = TestCompany.ASSORTMENT.barCode(i % TestCompany.ASSORTMENT.products());
    return supermarket.buyInStore(0, List.of(barCode), false).toCompletableFuture().join();
  }
}
