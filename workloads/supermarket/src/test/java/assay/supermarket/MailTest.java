package assay.supermarket;

import static org.assertj.core.api.Assertions.assertThat;

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
}
