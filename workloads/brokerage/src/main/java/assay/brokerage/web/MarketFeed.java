package assay.brokerage.web;

import jakarta.inject.Inject;
import jakarta.websocket.OnClose;
import jakarta.websocket.OnMessage;
import jakarta.websocket.OnOpen;
import jakarta.websocket.Session;
import jakarta.websocket.server.ServerEndpoint;
import java.io.IOException;

/**
 * {@code /market-feed}: a WebSocket that gets the market summary when it opens and whenever it
 * sends any text, and each quote change as it happens. Open Liberty makes one for each session, and
 * wants a constructor without arguments.
 */
@ServerEndpoint("/market-feed")
public class MarketFeed {
  private static final int TEXT_CHARACTERS_MAX = 1_024;

  @Inject private MarketBroadcast broadcast;

  @OnOpen
  public void open(Session session) throws IOException {
    session.setMaxTextMessageBufferSize(TEXT_CHARACTERS_MAX);
    broadcast.add(session);
  }

  @OnMessage
  public void asked(String text, Session session) {
    broadcast.sendSummary(session);
  }

  @OnClose
  public void close(Session session) {
    broadcast.remove(session);
  }
}
