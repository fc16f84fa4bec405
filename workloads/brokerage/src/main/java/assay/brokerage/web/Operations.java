package assay.brokerage.web;

import assay.brokerage.account.AccountView;
import assay.brokerage.account.Customers;
import assay.brokerage.account.ProfileDetails;
import assay.brokerage.account.RegistrationRing;
import assay.brokerage.market.Market;
import assay.brokerage.market.Ticker;
import assay.brokerage.order.OrderDesk;
import assay.brokerage.order.OrderView;
import assay.brokerage.order.Positions;
import assay.brokerage.quote.Quotes;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.HashMap;
import java.util.Map;

/** Carries out one operation and says which page shows it. */
@Singleton
class Operations {
  private final Customers customers;
  private final RegistrationRing registrations;
  private final Quotes quotes;
  private final OrderDesk desk;
  private final Positions positions;
  private final Market market;
  private final Ticker ticker;

  @Inject
  Operations(
      Customers customers,
      RegistrationRing registrations,
      Quotes quotes,
      OrderDesk desk,
      Positions positions,
      Market market,
      Ticker ticker) {
    this.customers = customers;
    this.registrations = registrations;
    this.quotes = quotes;
    this.desk = desk;
    this.positions = positions;
    this.market = market;
    this.ticker = ticker;
  }

  Page run(Operation operation, Visit visit) {
    return switch (operation) {
      case HOME -> home(customers.account(visit.customer()), "Home");
      case QUOTES ->
          page("quotes", "Quotes", Map.of("quotes", quotes.quotes(visit.list("symbols"))));
      case LOGIN -> login(visit);
      case LOGOUT -> logout(visit);
      case REGISTER -> register(visit);
      case ACCOUNT -> account(visit.customer(), false);
      case PORTFOLIO -> portfolio(visit.customer());
      case BUY -> buy(visit);
      case SELL -> sell(visit);
      case UPDATE -> update(visit);
      case MARKET -> page("market", "Market", Map.of());
    };
  }

  private Page home(AccountView account, String title) {
    return page(
        "home", title, Map.of("account", account, "portfolio", positions.portfolio(account.id())));
  }

  private Page login(Visit visit) {
    AccountView account = customers.login(visit.text("user"), visit.text("password"));
    return home(account, "Welcome").withLogin(account.id());
  }

  private Page logout(Visit visit) {
    AccountView account = customers.logout(visit.customer());
    return page("goodbye", "Goodbye", Map.of("account", account)).withLogout();
  }

  private Page register(Visit visit) {
    AccountView account = registrations.register(visit.text("password"), details(visit));
    return home(account, "Registered").withLogin(account.id());
  }

  private Page account(int id, boolean changed) {
    return page(
        "account",
        "Account",
        Map.of(
            "account", customers.account(id),
            "profile", customers.profile(id),
            "orders", positions.orders(id),
            "changed", changed));
  }

  private Page portfolio(int id) {
    return page(
        "portfolio",
        "Portfolio",
        Map.of("account", customers.account(id), "portfolio", positions.portfolio(id)));
  }

  private Page buy(Visit visit) {
    String symbol = visit.text("symbol");
    OrderView order = desk.buy(visit.customer(), symbol, visit.number("quantity"));
    return order(order);
  }

  private Page sell(Visit visit) {
    OrderView order =
        desk.sell(
            visit.customer(),
            visit.optionalId("holding"),
            visit.values().getOrDefault("symbol", "s:0"),
            visit.values().containsKey("quantity") ? visit.number("quantity") : 100);
    return order(order);
  }

  private Page order(OrderView order) {
    return page("order", "Order", Map.of("order", order, "quote", quotes.quote(order.symbol())));
  }

  private Page update(Visit visit) {
    customers.change(visit.customer(), details(visit));
    return account(visit.customer(), true);
  }

  private static ProfileDetails details(Visit visit) {
    return new ProfileDetails(
        visit.values().get("name"),
        visit.values().get("address"),
        visit.values().get("email"),
        visit.values().get("credit_card"));
  }

  /** Every page shows the market beside its own values. */
  private Page page(String view, String title, Map<String, Object> own) {
    Map<String, Object> values = new HashMap<>(own);
    values.put("title", title);
    values.put("market", market.summary());
    values.put("ticker", ticker.recent());
    return Page.of(view, values);
  }
}
