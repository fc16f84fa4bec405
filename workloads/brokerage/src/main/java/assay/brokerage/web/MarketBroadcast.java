package assay.brokerage.web;

import assay.brokerage.market.Market;
import assay.brokerage.market.MarketSummary;
import assay.brokerage.quote.QuoteChange;
import assay.brokerage.quote.QuoteView;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.json.Json;
import jakarta.json.JsonArrayBuilder;
import jakarta.json.JsonObject;
import jakarta.websocket.Session;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Sends the market's news to all WebSocket sessions. */
@Singleton
public class MarketBroadcast {
  private static final int SESSIONS_MAX = 1_000;

  private final Market market;
  private final Set<Session> sessions = ConcurrentHashMap.newKeySet();

  @Inject
  public MarketBroadcast(Market market) {
    this.market = market;
  }

  void add(Session session) throws IOException {
    if (sessions.size() >= SESSIONS_MAX) {
      session.close();
      return;
    }
    sessions.add(session);
    sendSummary(session);
  }

  void remove(Session session) {
    sessions.remove(session);
  }

  void sendSummary(Session session) {
    send(session, json(market.summary()));
  }

  void changed(@Observes QuoteChange change) {
    if (sessions.isEmpty()) {
      return;
    }
    JsonObject news =
        Json.createObjectBuilder()
            .add("symbol", change.symbol())
            .add("before", change.before())
            .add("after", change.after())
            .add("quantity", change.quantity())
            .build();
    sessions.forEach(session -> send(session, news));
  }

  private void send(Session session, JsonObject message) {
    session
        .getAsyncRemote()
        .sendText(
            message.toString(),
            result -> {
              if (!result.isOK()) {
                sessions.remove(session);
              }
            });
  }

  private static JsonObject json(MarketSummary summary) {
    return Json.createObjectBuilder()
        .add("at", summary.at().toString())
        .add("index", summary.index())
        .add("open_index", summary.openIndex())
        .add("gain_percent", summary.gainPercent())
        .add("volume", summary.volume())
        .add("gainers", symbols(summary.gainers()))
        .add("losers", symbols(summary.losers()))
        .build();
  }

  private static JsonArrayBuilder symbols(List<QuoteView> quotes) {
    JsonArrayBuilder symbols = Json.createArrayBuilder();
    quotes.forEach(quote -> symbols.add(quote.symbol()));
    return symbols;
  }
}
