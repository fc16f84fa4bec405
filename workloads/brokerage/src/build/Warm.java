import java.io.IOException;
import java.net.CookieManager;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;

/** Waits until the server on the given port is ready and asks for every page once. */
public final class Warm {
  private static final int POLLS_MAX = 1_200;
  private static final int POLL_MS = 100;
  private static final String DETAILS = "name=A&address=B&email=a@example.com&credit_card=1";

  private final HttpClient client =
      HttpClient.newBuilder()
        .version(HttpClient.Version.HTTP_1_1)
        .cookieHandler(new CookieManager())
        .build();
  private final String server;

  private Warm(String port) {
    server = "http://127.0.0.1:" + port;
  }

  public static void main(String[] arguments) throws IOException, InterruptedException {
    Warm warm = new Warm(arguments[0]);
    warm.awaitReady();
    warm.post("/login", "user=uid:0&password=xxx");
    for (String page : new String[] {"/home", "/quotes?symbols=s:1", "/account", "/portfolio", "/market"}) {
      warm.get(page);
    }
    warm.post("/buy", "symbol=s:1&quantity=1");
    warm.post("/sell", "");
    warm.post("/update", DETAILS);
    warm.post("/register", DETAILS + "&password=xxx");
    warm.post("/logout", "");
    warm.expect(HttpRequest.newBuilder(warm.uri("/home")).build(), 401);
  }

  private void awaitReady() throws IOException, InterruptedException {
    HttpRequest health = HttpRequest.newBuilder(uri("/health")).build();
    for (int i = 0; i < POLLS_MAX; i++) {
      try {
        if (client.send(health, BodyHandlers.discarding()).statusCode() == 200) {
          return;
        }
      } catch (IOException e) {
        // Not listening yet: the next poll tells.
      }
      Thread.sleep(POLL_MS);
    }
    throw new IOException("the server did not get ready in " + POLLS_MAX * POLL_MS / 1000 + " s");
  }

  private void get(String path) throws IOException, InterruptedException {
    expect(HttpRequest.newBuilder(uri(path)).build(), 200);
  }

  private void post(String path, String form) throws IOException, InterruptedException {
    expect(
        HttpRequest.newBuilder(uri(path))
            .header("Content-Type", "application/x-www-form-urlencoded")
            .POST(BodyPublishers.ofString(form))
            .build(),
        200);
  }

  private void expect(HttpRequest request, int status) throws IOException, InterruptedException {
    int got = client.send(request, BodyHandlers.discarding()).statusCode();
    if (got != status) {
      throw new IOException(request.uri() + " answered " + got + ", not " + status);
    }
  }

  private URI uri(String path) {
    return URI.create(server + path);
  }
}
