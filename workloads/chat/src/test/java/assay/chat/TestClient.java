package assay.chat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A user of the chat; for one thread. */
abstract class TestClient implements AutoCloseable {
  /** Against a hang only. */
  static final int PATIENCE_MS = 60_000;

  /** What comes in place of a message when the connection has ended. */
  static final String END = "";

  final Ledger ledger = new Ledger();
  private String name;
  private long said;

  static TestClient plain(int port) throws IOException {
    return new Plain(new Socket(InetAddress.getLoopbackAddress(), port));
  }

  static TestClient webSocket(int port) {
    return new OverWebSocket(port);
  }

  abstract void send(String messages) throws IOException;

  /** The next message of whatever kind, or {@link #END}. */
  abstract String next() throws IOException;

  @Override
  public abstract void close() throws IOException;

  /** Joins a room; the number of members. */
  int enter(String user, String room) throws IOException {
    name = user;
    send("hello 1 " + user);
    String welcome = next();
    if (!welcome.startsWith("welcome 1 ")) {
      throw new IOException(welcome);
    }
    send("join " + room);
    return Integer.parseInt(answer("joined").split(" ", -1)[2]);
  }

  void say(int textBytes) throws IOException {
    said++;
    String text = name + "-" + said + "-";
    send("say " + said + " " + text + "x".repeat(Math.max(0, textBytes - text.length())));
  }

  /** Enters deliveries into the ledger until there are so many. */
  void receive(long deliveries) throws IOException {
    while (ledger.deliveries() < deliveries) {
      receiveOne(next());
    }
  }

  private void receiveOne(String message) throws IOException {
    if (!message.startsWith("from ")) {
      throw new IOException("not a delivery: " + message);
    }
    ledger.add(message);
  }

  /** The next message of this kind; deliveries before it go into the ledger. */
  String answer(String kind) throws IOException {
    while (true) {
      String message = next();
      if (message.startsWith(kind)) {
        return message;
      }
      receiveOne(message);
    }
  }

  private static final class Plain extends TestClient {
    private final Socket socket;
    private final BufferedReader reader;

    Plain(Socket socket) throws IOException {
      this.socket = socket;
      socket.setSoTimeout(PATIENCE_MS);
      reader =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    }

    @Override
    void send(String messages) throws IOException {
      socket.getOutputStream().write((messages + "\n").getBytes(StandardCharsets.UTF_8));
    }

    @Override
    String next() throws IOException {
      try {
        String line = reader.readLine();
        return line == null ? END : line;
      } catch (SocketTimeoutException e) {
        throw new IOException("nothing came", e);
      }
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  /** The JDK's client, which was not written for this server. */
  private static final class OverWebSocket extends TestClient implements WebSocket.Listener {
    private final BlockingQueue<String> received = new LinkedBlockingQueue<>();
    private final StringBuilder part = new StringBuilder();
    private final WebSocket socket;

    @SuppressWarnings("ThisEscapedInObjectConstruction")
    OverWebSocket(int port) {
      socket =
          HttpClient.newHttpClient()
              .newWebSocketBuilder()
              .buildAsync(URI.create("ws://127.0.0.1:" + port + "/chat"), this)
              .join();
    }

    @Override
    public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
      part.append(data);
      if (last) {
        received.add(part.toString());
        part.setLength(0);
      }
      from.request(1);
      return null;
    }

    @Override
    public CompletionStage<?> onClose(WebSocket from, int status, String reason) {
      received.add("close " + status);
      received.add(END);
      return null;
    }

    @Override
    public void onError(WebSocket from, Throwable error) {
      received.add(END);
    }

    @Override
    void send(String messages) throws IOException {
      try {
        for (String message : messages.split("\n", -1)) {
          socket.sendText(message, true).join();
        }
      } catch (CompletionException e) {
        throw new IOException(e);
      }
    }

    @Override
    String next() throws IOException {
      try {
        String message = received.poll(PATIENCE_MS, TimeUnit.MILLISECONDS);
        if (message == null) {
          throw new IOException("nothing came");
        }
        return message;
      } catch (InterruptedException e) {
        throw new UncheckedIOException(new IOException(e));
      }
    }

    @Override
    public void close() {
      socket.abort();
    }
  }
}
