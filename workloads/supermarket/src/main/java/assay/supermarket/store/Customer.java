package assay.supermarket.store;

/** A customer of one supermarket. Guarded by the supermarket's lock. Amounts are in cents. */
final class Customer {
  final int id;
  final String name;
  final String address;
  final long limitCents;
  long creditCents;
  long financedCents;
  long paidCents;
  long refundedCents;

  Customer(int id, long limitCents) {
    this.id = id;
    this.name = "Customer " + id;
    this.address = id % 997 + " Market Street, District " + id / 997;
    this.limitCents = limitCents;
    this.creditCents = limitCents;
  }

  long debtCents() {
    return limitCents - creditCents;
  }
}
