package assay.kiosk;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Field;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The audit agrees after sales by many threads, and notices every book that is changed alone. */
class AuditTest {
  private static final int THREADS = 4;

  private static Shop busyShop() throws InterruptedException {
    Shop shop = new Shop(1);
    CountDownLatch done = new CountDownLatch(THREADS);
    for (int i = 0; i < THREADS; i++) {
      int thread = i;
      new Thread(
              () -> {
                // All of them sell to the same few customers.
                for (int sale = 0; sale < 2_000; sale++) {
                  shop.buy(sale % 50, 31L * sale + thread);
                }
                done.countDown();
              })
          .start();
    }
    done.await();
    return shop;
  }

  @Test
  void booksOfSalesByManyThreadsAgree() throws Exception {
    Shop shop = busyShop();
    assertThat(shop.audit()).isEmpty();
    assertThat(shop.receipts()).isEqualTo(THREADS * 2_000);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "product.stock", "product.delivered", "product.sold", "customer.receipts",
        "customer.spentCents", "receipt.totalCents", "receipt.checksum", "receipt.customer",
        "till.receipts", "till.pieces", "till.cents"
      })
  void aBookThatIsChangedAloneIsNoticed(String book) throws Exception {
    Shop shop = busyShop();
    String name = book.substring(book.indexOf('.') + 1);
    if (book.startsWith("product.")) {
      addOne(shop.products().get(7), name);
    } else if (book.startsWith("customer.")) {
      addOne(shop.customers().get(7), name);
    } else if (book.startsWith("receipt.")) {
      addOne(shop.customers().get(7).latest().get(0), name);
    } else {
      addOne(shop, name);
    }
    assertThat(shop.audit()).isNotEmpty();
  }

  private static void addOne(Object book, String name) throws ReflectiveOperationException {
    Field field = book.getClass().getDeclaredField(name);
    field.setAccessible(true);
    Object value = field.get(book);
    if (value instanceof LongAdder sum) {
      sum.increment();
    } else if (value instanceof AtomicLong count) {
      count.incrementAndGet();
    } else if (field.getType() == int.class) {
      field.setInt(book, field.getInt(book) + 1);
    } else {
      field.setLong(book, field.getLong(book) + 1);
    }
  }
}
