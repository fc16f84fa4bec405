package assay.airline.store;

import static com.mongodb.client.model.Filters.and;
import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Filters.gt;
import static com.mongodb.client.model.Filters.in;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Updates;
import de.bwaldvogel.mongo.MongoServer;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.stream.IntStream;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class IdIndexTest {
  private static final int DOCUMENTS = 20_000;

  private final MongoServer server = new MongoServer(new Backend());
  private MongoClient client;
  private MongoCollection<Document> collection;

  @BeforeEach
  void fill() {
    InetSocketAddress address = server.bind();
    client = MongoClients.create("mongodb://127.0.0.1:" + address.getPort());
    collection = client.getDatabase("d").getCollection("c");
    collection.insertMany(
        IntStream.range(0, DOCUMENTS)
            .mapToObj(i -> new Document("_id", "n" + i).append("left", i))
            .toList());
  }

  @AfterEach
  void close() {
    client.close();
    server.shutdownNow();
  }

  @Test
  void aConditionBesideTheIdIsStillACondition() {
    var left = new Document("_id", "n7").append("left", new Document("$gt", 6));
    assertThat(collection.updateOne(left, Updates.inc("left", -1)).getMatchedCount()).isEqualTo(1);
    assertThat(collection.updateOne(left, Updates.inc("left", -1)).getMatchedCount()).isZero();
    assertThat(collection.find(eq("_id", "n7")).first()).containsEntry("left", 6);
    assertThat(collection.find(new Document("_id", "n8").append("left", 8))).hasSize(1);
    assertThat(collection.find(new Document("_id", "n8").append("left", 9))).isEmpty();
    assertThat(collection.find(and(eq("_id", "none"), gt("left", 6)))).isEmpty();
    assertThat(collection.find(in("_id", List.of("n1", "n2", "none")))).hasSize(2);
    var both = new Document("_id", new Document("$in", List.of("n1", "n2", "none")));
    assertThat(collection.find(both.append("left", 2))).hasSize(1);
    assertThat(collection.find(gt("left", DOCUMENTS - 3))).hasSize(2);
  }

  @Test
  void anIdThatIsTakenIsRefused() {
    assertThat(catchThrowable(() -> collection.insertOne(new Document("_id", "n7"))))
        .hasMessageContaining("duplicate key");
  }
}
