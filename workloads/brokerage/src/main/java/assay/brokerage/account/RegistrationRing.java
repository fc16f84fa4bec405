package assay.brokerage.account;

import assay.brokerage.Refused;
import assay.brokerage.Refused.Reason;
import assay.brokerage.audit.TradingGate;
import assay.brokerage.database.DataSetSize;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/** Goes round the accounts that are there for new customers, one after the other. */
@Singleton
public class RegistrationRing {
  private static final int TRIES_MAX = 20;

  private final Registration registration;
  private final DataSetSize size;
  private final TradingGate gate;
  private final AtomicInteger next = new AtomicInteger();

  @Inject
  public RegistrationRing(Registration registration, DataSetSize size, TradingGate gate) {
    this.registration = registration;
    this.size = size;
    this.gate = gate;
  }

  public AccountView register(String password, ProfileDetails details) {
    for (int i = 0; i < TRIES_MAX; i++) {
      int place = Math.floorMod(next.getAndIncrement(), size.ring());
      int accountId = size.users() + place;
      Optional<AccountView> opened =
          gate.through(() -> registration.reopen(accountId, password, details));
      if (opened.isPresent()) {
        return opened.get();
      }
    }
    throw new Refused(Reason.CONFLICT, "all accounts for new customers have open orders");
  }
}
