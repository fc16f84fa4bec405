package assay.supermarket;

import assay.supermarket.data.Assortment;
import assay.supermarket.link.GroupLink;
import assay.supermarket.message.CompanyKeys;
import assay.supermarket.tier.Tiers;
import assay.supermarket.web.Front;
import assay.supermarket.web.LinkEntrance;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** Starts a group of the company as the environment says; see README.md. */
public final class Main {
  /** Connections that wait for being accepted; a full queue costs each further one a second. */
  private static final int ACCEPT_QUEUE = 1_024;

  /**
   * Characters of header fields that Jetty remembers of each connection. Its own 1,024 are a table
   * of 100 kB on the heap: 400 MB for 4,096 connections, which collections copy when they open.
   */
  private static final int HEADER_CACHE = 0;

  private Main() {}

  public static void main(String[] arguments) throws Exception {
    Settings settings = Settings.read(System.getenv());
    Tiers tiers = Tiers.from(System.getenv());
    // Audits and resets block, one at a time; a few threads wait.
    ExecutorService blocking = Executors.newCachedThreadPool();
    GroupLink link =
        new GroupLink(settings.company().group(), settings.peers(), keys(settings), tiers.post());
    Backend.Executors executors =
        new Backend.Executors(
            tiers.supermarkets(),
            tiers.headquarters(),
            tiers.suppliers(),
            tiers.post(),
            tiers.mining(),
            blocking);
    Assortment assortment = new Assortment(settings.sizes());
    Backend backend = new Backend(settings.company(), assortment, link, executors);
    backend.agents().forEach(link::add);
    backend.start();
    Map<String, Object> shown = new TreeMap<>(settings.shown());
    shown.put("threads", tiers.toString());
    Front front = new Front(backend, link, blocking, settings.partnerPermille(), shown);
    serve(settings, new Handler.Sequence(new LinkEntrance(link), front));
  }

  /** A company in one process has keys that nobody else knows. */
  private static CompanyKeys keys(Settings settings) throws IOException {
    if (settings.keys() == null) {
      if (settings.company().groups().size() > 1) {
        throw new IllegalArgumentException(
            "several groups need SUPERMARKET_KEYS, a file that all of them read");
      }
      return CompanyKeys.fresh();
    }
    return CompanyKeys.sharedBy(Path.of(settings.keys()));
  }

  private static void serve(Settings settings, Handler handler) throws Exception {
    Server server = new Server(new QueuedThreadPool(settings.webThreads()));
    HttpConfiguration http = new HttpConfiguration();
    http.setSendServerVersion(false);
    http.setHeaderCacheSize(HEADER_CACHE);
    ServerConnector connector = new ServerConnector(server, new HttpConnectionFactory(http));
    connector.setHost(settings.address());
    connector.setPort(settings.port());
    connector.setAcceptQueueSize(ACCEPT_QUEUE);
    server.addConnector(connector);
    server.setHandler(handler);
    server.setStopAtShutdown(true);
    server.start();
    System.out.println("ready on " + settings.address() + ":" + connector.getLocalPort());
    server.join();
  }
}
