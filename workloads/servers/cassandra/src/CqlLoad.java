import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/** Writes and reads rows for a while. Arguments: PORT SECONDS; 0 seconds only ask whether the server is ready. */
public final class CqlLoad {
  private static final int ROWS = 10_000;

  private CqlLoad() {}

  public static void main(String[] arguments) {
    InetSocketAddress server =
        new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(arguments[0]));
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(Long.parseLong(arguments[1]));
    try (CqlSession session =
        CqlSession.builder().addContactPoint(server).withLocalDatacenter("datacenter1").build()) {
      session.execute(
          "CREATE KEYSPACE IF NOT EXISTS assay WITH replication ="
              + " {'class': 'SimpleStrategy', 'replication_factor': 1}");
      session.execute("CREATE TABLE IF NOT EXISTS assay.pages (id int PRIMARY KEY, text text)");
      PreparedStatement write = session.prepare("INSERT INTO assay.pages (id, text) VALUES (?, ?)");
      PreparedStatement read = session.prepare("SELECT text FROM assay.pages WHERE id = ?");
      int done = 0;
      while (System.nanoTime() - until < 0) {
        session.execute(write.bind(done % ROWS, "page " + done));
        session.execute(read.bind(done / 2 % ROWS)).one();
        done++;
      }
      System.out.println(done + " rows written and read");
    }
  }
}
