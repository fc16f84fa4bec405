package assay.airline.documents;

import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.InsertManyOptions;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.bson.Document;

/**
 * Fills a collection once. A mark beside it, written last, says that it is whole: a load that was
 * killed begins anew.
 */
public final class FirstLoad {
  private static final int BATCH = 500;
  private static final String MARKS = "loaded";

  private FirstLoad() {}

  /** Loads the documents unless that was done; says whether it did. */
  public static boolean into(
      Documents store, String name, String version, Iterator<Document> documents) {
    MongoCollection<Document> marks = store.collection(MARKS);
    Document mark = marks.find(Filters.eq("_id", name)).first();
    if (mark != null) {
      if (!version.equals(mark.getString("version"))) {
        throw new IllegalStateException(
            "the store holds "
                + name
                + " of the data set "
                + mark.getString("version")
                + ", not of "
                + version
                + ": give it an empty database");
      }
      return false;
    }
    MongoCollection<Document> collection = store.collection(name);
    collection.deleteMany(new Document());
    List<Document> batch = new ArrayList<>(BATCH);
    while (documents.hasNext()) {
      batch.add(documents.next());
      if (batch.size() == BATCH || !documents.hasNext()) {
        collection.insertMany(batch, new InsertManyOptions().ordered(false));
        batch.clear();
      }
    }
    marks.insertOne(new Document("_id", name).append("version", version));
    return true;
  }
}
