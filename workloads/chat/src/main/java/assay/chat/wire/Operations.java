package assay.chat.wire;

import assay.chat.room.Audit;
import assay.chat.room.Client;
import assay.chat.room.End;
import assay.chat.room.Limits;
import assay.chat.room.Message;
import assay.chat.room.Reached;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * What a server answers to all clients alike: the welcome, and, over HTTP on the port of the chat,
 * answers of which one ends the connection.
 */
public final class Operations {
  private final Audit audit;

  /** Encoded once: to format it for each client made most of the garbage of a new connection. */
  private final Message welcome;

  /** An audit waits, which a thread that reads connections must not do. */
  private final ExecutorService audits =
      Executors.newSingleThreadExecutor(
          task -> {
            Thread thread = new Thread(task, "audit");
            thread.setDaemon(true);
            return thread;
          });

  public Operations(Audit audit, Limits limits) {
    this.audit = audit;
    welcome =
        Message.text(
            "welcome %s room=%d line=%d queue=%d"
                .formatted(
                    Session.VERSION,
                    limits.roomUsersMax(),
                    Decoder.LINE_BYTES_MAX,
                    limits.queueBytesMax()));
  }

  Message welcome() {
    return welcome;
  }

  void answer(Client client, String method, String path, Reached reached) {
    if (!method.equals("GET")) {
      finish(client, new Audit.Answer(405, "{\"error\":\"only GET is done here\"}"), reached);
      return;
    }
    switch (path) {
      case "/health" -> finish(client, audit.health(), reached);
      case "/stats" -> finish(client, audit.stats(), reached);
      case "/audit" -> audits.execute(() -> audit(client));
      default ->
          finish(
              client,
              new Audit.Answer(
                  404,
                  "{\"error\":\"here are /health, /stats, /audit, and /chat for a WebSocket of"
                      + " version 13\"}"),
              reached);
    }
  }

  private void audit(Client client) {
    Reached reached = new Reached();
    try {
      finish(client, audit.audit(), reached);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    reached.flush();
  }

  private static void finish(Client client, Audit.Answer answer, Reached reached) {
    byte[] body = answer.json().getBytes(StandardCharsets.UTF_8);
    String head =
        "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
            .formatted(answer.status(), phrase(answer.status()), body.length);
    client
        .chat()
        .finish(
            client,
            End.ANSWERED,
            reached,
            Message.raw(head.getBytes(StandardCharsets.US_ASCII)),
            Message.raw(body));
  }

  private static String phrase(int status) {
    return switch (status) {
      case 200 -> "OK";
      case 404 -> "Not Found";
      case 405 -> "Method Not Allowed";
      case 503 -> "Service Unavailable";
      default -> "Internal Server Error";
    };
  }
}
