package assay.probes.server;

import static org.assertj.core.api.Assertions.assertThat;

import assay.probes.Kind;
import assay.probes.Phases;
import com.sun.net.httpserver.HttpServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProbeServerTest {
  @Test
  void aStudyCanAskForPhases() throws Exception {
    HttpServer server = new ProbeServer(new Phases(Kind.HEAP, List.of("10", "1k"))).start(0);
    try {
      assertThat(server.getAddress().getAddress().isLoopbackAddress()).isTrue();
      assertThat(get(server, "/ready").body()).contains("\"ready\":true", "\"bytes\":10240");
      assertThat(get(server, "/phase?grow+5").body()).contains("\"grow\":true", "\"count\":15");
      assertThat(get(server, "/hold").body()).contains("\"count\":15");
      assertThat(get(server, "/phase").statusCode()).isEqualTo(400);
    } finally {
      server.stop(0);
    }
  }

  private static HttpResponse<String> get(HttpServer server, String path) throws Exception {
    URI uri = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + path);
    return HttpClient.newHttpClient()
        .send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void aStudysOptionsChooseTheAmountsOfThePaper() {
    assertThat(Experiment.of(List.of("study", "reflection", "100", "handle", "155")))
        .isEqualTo(new Experiment(Kind.REFLECTION, List.of("6000", "100", "handle")));
    assertThat(Experiment.of(List.of("study", "freed", "10", "method", "155")))
        .isEqualTo(new Experiment(Kind.FREED, List.of("10000", "32k")));
    assertThat(Experiment.of(List.of("study", "waiting", "10", "method", "155")))
        .isEqualTo(new Experiment(Kind.WAITING, List.of("155")));
    assertThat(Experiment.of(List.of("heap", "1", "2k")))
        .isEqualTo(new Experiment(Kind.HEAP, List.of("1", "2k")));
  }
}
