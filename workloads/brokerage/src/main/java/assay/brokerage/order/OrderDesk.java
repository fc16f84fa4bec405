package assay.brokerage.order;

import assay.brokerage.audit.TradingGate;
import assay.brokerage.order.OrderBook.Step;
import assay.brokerage.quote.QuoteTopic;
import assay.brokerage.stats.Counters;
import assay.brokerage.stats.Counters.Event;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.OptionalLong;
import java.util.function.Supplier;

/** Takes customers' orders and has them completed in the server's order mode. */
@Singleton
public class OrderDesk {
  private final OrderBook book;
  private final OrderCompletion completion;
  private final TradingGate gate;
  private final QuoteTopic topic;
  private final Counters counters;
  private final boolean completeNow;

  @Inject
  public OrderDesk(
      OrderBook book,
      OrderCompletion completion,
      TradingGate gate,
      QuoteTopic topic,
      Counters counters,
      OrderMode mode) {
    this.book = book;
    this.completion = completion;
    this.gate = gate;
    this.topic = topic;
    this.counters = counters;
    this.completeNow = mode == OrderMode.SYNCHRONOUS;
  }

  public OrderView buy(int accountId, String symbol, int quantity) {
    OrderView order = place(() -> book.buy(accountId, symbol, quantity, completeNow));
    if (order.type() != OrderType.BUY) {
      counters.count(Event.BUY_BECAME_SELL);
    }
    return order;
  }

  public OrderView sell(int accountId, OptionalLong holdingId, String otherwiseBuy, int quantity) {
    OrderView order =
        place(() -> book.sell(accountId, holdingId, otherwiseBuy, quantity, completeNow));
    if (order.type() != OrderType.SELL) {
      counters.count(Event.SELL_BECAME_BUY);
    }
    return order;
  }

  private OrderView place(Supplier<Step> opening) {
    Step step = gate.through(opening);
    counters.count(Event.ORDER_OPENED);
    if (completeNow) {
      counters.count(Event.ORDER_COMPLETED);
      step.change().ifPresent(topic::publish);
    } else {
      completion.later(step.order().id());
    }
    return step.order();
  }
}
