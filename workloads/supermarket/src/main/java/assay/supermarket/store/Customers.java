package assay.supermarket.store;

import assay.supermarket.message.Account;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.ToLongFunction;

/** The customers of a supermarket and what they owe. Guarded by its lock. */
final class Customers {
  private static final long LIMIT_CENTS_MIN = 100_000;
  private static final long LIMIT_CENTS_SPREAD = 900_000;
  private static final int INSTALMENTS = 10;

  private final Customer[] customers;

  Customers(int count, SplittableRandom random) {
    customers = new Customer[count];
    for (int id = 0; id < count; id++) {
      customers[id] = new Customer(id, LIMIT_CENTS_MIN + random.nextLong(LIMIT_CENTS_SPREAD));
    }
  }

  void restore() {
    for (Customer customer : customers) {
      customer.creditCents = customer.limitCents;
      customer.financedCents = 0;
      customer.paidCents = 0;
      customer.refundedCents = 0;
    }
  }

  int size() {
    return customers.length;
  }

  boolean has(int id) {
    return id >= 0 && id < customers.length;
  }

  /**
   * Whether the amount was taken from the customer's credit; if it does not suffice, nothing is.
   */
  boolean finance(int id, long cents) {
    Customer customer = customers[id];
    if (cents > customer.creditCents) {
      return false;
    }
    customer.creditCents -= cents;
    customer.financedCents += cents;
    return true;
  }

  /**
   * The customer pays a tenth of the limit, or what is owed if that is less. Returns what was paid.
   */
  long payInstalment(int id) {
    Customer customer = customers[id];
    long cents = Math.min(customer.debtCents(), customer.limitCents / INSTALMENTS);
    customer.creditCents += cents;
    customer.paidCents += cents;
    return cents;
  }

  /** Gives credit back, as much as is owed. Returns how much; the rest is paid out. */
  long refund(int id, long cents) {
    Customer customer = customers[id];
    long toCredit = Math.min(cents, customer.debtCents());
    customer.creditCents += toCredit;
    customer.refundedCents += toCredit;
    return toCredit;
  }

  void book(List<Account> accounts) {
    accounts.add(new Account("data.customers", customers.length));
    accounts.add(new Account("customers.limit_cents", sum(c -> c.limitCents)));
    accounts.add(new Account("customers.credit_cents", sum(c -> c.creditCents)));
    accounts.add(new Account("customers.financed_cents", sum(c -> c.financedCents)));
    accounts.add(new Account("customers.paid_cents", sum(c -> c.paidCents)));
    accounts.add(new Account("customers.refunded_cents", sum(c -> c.refundedCents)));
    accounts.add(new Account("customers.off", sum(c -> isOff(c) ? 1 : 0)));
  }

  private static boolean isOff(Customer c) {
    return c.debtCents() != c.financedCents - c.paidCents - c.refundedCents || c.creditCents < 0;
  }

  private long sum(ToLongFunction<Customer> amount) {
    long sum = 0;
    for (Customer customer : customers) {
      sum += amount.applyAsLong(customer);
    }
    return sum;
  }
}
