package assay.airline.documents;

import assay.airline.settings.Settings;
import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.Document;
import org.bson.conversions.Bson;

/**
 * The store of a service: any MongoDB, named by a URL with a database. Nothing here needs
 * transactions: whatever must happen together is one change of one document.
 */
@Singleton
public class Documents {
  private static final int CONNECTIONS_MAX = 64;
  private static final int WAIT_S = 8;

  private final MongoClient client;
  private final MongoDatabase database;

  @Inject
  public Documents(Settings settings) {
    this(settings.text("AIRLINE_STORE"));
  }

  public Documents(String url) {
    ConnectionString address = new ConnectionString(url);
    if (address.getDatabase() == null) {
      throw new IllegalStateException(
          "the store's URL names no database: it ends like 27017/airline");
    }
    client =
        MongoClients.create(
            MongoClientSettings.builder()
                .applyToClusterSettings(c -> c.serverSelectionTimeout(WAIT_S, TimeUnit.SECONDS))
                .applyToConnectionPoolSettings(p -> p.maxSize(CONNECTIONS_MAX))
                .applyConnectionString(address)
                // An operation that failed is taken up by whoever asked for it.
                .retryWrites(false)
                .build());
    database = client.getDatabase(address.getDatabase());
  }

  /**
   * A filter for the document with this id if all conditions hold for it, each about another field.
   * Without {@code $and}, in which FerretDB does not look for an id: it would read the whole
   * collection.
   */
  public static Bson withId(String id, Bson... conditions) {
    BsonDocument filter = new BsonDocument("_id", new BsonString(id));
    for (Bson condition : conditions) {
      condition
          .toBsonDocument()
          .forEach(
              (field, value) -> {
                if (filter.put(field, value) != null) {
                  throw new IllegalArgumentException("two conditions for the field " + field);
                }
              });
    }
    return filter;
  }

  public MongoCollection<Document> collection(String name) {
    return database.getCollection(name);
  }

  @PreDestroy
  public void close() {
    client.close();
  }
}
