package assay.kiosk;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.DataInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FrontTest {
  private final Front front = new Front(new Shop(8));

  @BeforeEach
  void start() throws Exception {
    front.start(0);
  }

  @AfterEach
  void stop() {
    front.stop();
  }

  private HttpResponse<String> ask(String method, String path) throws Exception {
    URI uri = URI.create("http://127.0.0.1:" + front.port() + path);
    HttpRequest request =
        HttpRequest.newBuilder(uri).method(method, BodyPublishers.noBody()).build();
    return HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
  }

  @Test
  void whatIsBoughtIsInTheHistoryAndTheStockAndTheAuditAgrees() throws Exception {
    String bought = ask("POST", "/buy?customer=42&seed=7").body();
    assertThat(bought).contains("\"customer\":42", "\"checksum\":\"", "\"total\":\"");
    assertThat(ask("GET", "/history?customer=42").body()).contains("\"receipts\":1", bought);
    assertThat(ask("GET", "/product?id=1999").body()).contains("\"id\":1999", "\"stock\":");
    assertThat(ask("GET", "/search?word=coffee").body()).contains("\"found\":[{\"id\":");
    assertThat(ask("GET", "/audit").body()).contains("\"right\":true", "\"receipts\":1");
    assertThat(ask("GET", "/stats").body()).contains("\"buy\":1", "\"search\":1");
  }

  @Test
  void theSameSeedIsTheSameBasket() throws Exception {
    String one = ask("POST", "/buy?customer=1&seed=99").body();
    String other = ask("POST", "/buy?customer=2&seed=99").body();
    assertThat(one.substring(one.indexOf("\"total\"")))
        .isEqualTo(other.substring(other.indexOf("\"total\"")));
  }

  @Test
  void whatIsWrongHasAStatusThatSaysSo() throws Exception {
    assertThat(ask("GET", "/product?id=2000").statusCode()).isEqualTo(404);
    assertThat(ask("GET", "/product?id=many").statusCode()).isEqualTo(400);
    assertThat(ask("GET", "/product").statusCode()).isEqualTo(400);
    assertThat(ask("GET", "/buy?customer=1&seed=1").statusCode()).isEqualTo(405);
    assertThat(ask("POST", "/buy?customer=5000&seed=1").statusCode()).isEqualTo(404);
    assertThat(ask("GET", "/nowhere").statusCode()).isEqualTo(404);
    assertThat(ask("GET", "/search?word=none").body()).contains("\"found\":[]");
  }

  @Test
  void classFilesAreThoseOfRelease8() throws Exception {
    for (Class<?> type : new Class<?>[] {Main.class, Front.class, Shop.class}) {
      String file = type.getSimpleName() + ".class";
      try (DataInputStream bytes = new DataInputStream(type.getResourceAsStream(file))) {
        assertThat(bytes.readInt()).isEqualTo(0xcafebabe);
        assertThat(bytes.readUnsignedShort()).isZero();
        assertThat(bytes.readUnsignedShort()).as(file).isEqualTo(52);
      }
    }
  }
}
