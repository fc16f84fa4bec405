package assay.airline.documents;

import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import java.net.InetSocketAddress;

/** An empty store of its own for a test. */
public final class TestStore implements AutoCloseable {
  private final MongoServer server = new MongoServer(new MemoryBackend());
  private final Documents documents;

  public TestStore() {
    InetSocketAddress address = server.bind();
    documents = new Documents("mongodb://127.0.0.1:" + address.getPort() + "/airline");
  }

  public Documents documents() {
    return documents;
  }

  @Override
  public void close() {
    documents.close();
    server.shutdownNow();
  }
}
