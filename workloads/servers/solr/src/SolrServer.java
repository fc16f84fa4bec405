import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.solr.client.solrj.SolrQuery;
import org.apache.solr.client.solrj.SolrServerException;
import org.apache.solr.client.solrj.embedded.EmbeddedSolrServer;
import org.apache.solr.common.SolrInputDocument;

/**
 * Solr's core in this process: {@code /index} adds a hundred documents, {@code /query} searches. Arguments: PORT HOME.
 */
public final class SolrServer {
  private static final int DOCUMENTS = 100;

  private final EmbeddedSolrServer solr;
  private final AtomicInteger next = new AtomicInteger();

  private SolrServer(Path home) {
    solr = new EmbeddedSolrServer(home, "pages");
  }

  public static void main(String[] arguments) throws IOException {
    SolrServer pages = new SolrServer(Path.of(arguments[1]).toAbsolutePath());
    int port = Integer.parseInt(arguments[0]);
    HttpServer http =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    http.setExecutor(Executors.newFixedThreadPool(4));
    http.createContext("/index", exchange -> pages.answer(exchange, pages::index));
    http.createContext("/query", exchange -> pages.answer(exchange, pages::query));
    http.start();
  }

  private interface Work {
    long run() throws SolrServerException, IOException;
  }

  private long index() throws SolrServerException, IOException {
    for (int i = 0; i < DOCUMENTS; i++) {
      int number = next.getAndIncrement();
      SolrInputDocument document = new SolrInputDocument();
      document.addField("id", Integer.toString(number));
      document.addField("text", "page " + number + " tells of word" + number % 997);
      solr.add(document);
    }
    solr.commit();
    return next.get();
  }

  private long query() throws SolrServerException, IOException {
    String word = "text:word" + next.get() % 997;
    return solr.query(new SolrQuery(word)).getResults().getNumFound();
  }

  private void answer(HttpExchange exchange, Work work) throws IOException {
    try (exchange) {
      byte[] body = (work.run() + "\n").getBytes(UTF_8);
      exchange.sendResponseHeaders(200, body.length);
      exchange.getResponseBody().write(body);
    } catch (SolrServerException e) {
      exchange.sendResponseHeaders(500, -1);
    }
  }
}
