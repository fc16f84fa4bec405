package assay.airline.store;

import de.bwaldvogel.mongo.backend.IndexKey;
import de.bwaldvogel.mongo.backend.memory.index.MemoryUniqueIndex;
import de.bwaldvogel.mongo.bson.Document;
import java.util.Collection;
import java.util.List;

/**
 * The index of {@code _id}, used for every query that names one document and wants more of it. The
 * library uses it only where nothing else is wanted, and reads the whole collection otherwise.
 */
final class IdIndex extends MemoryUniqueIndex {
  private static final String ID = "_id";

  IdIndex(String name, List<IndexKey> keys, boolean sparse) {
    super(name, keys, sparse);
  }

  @Override
  public synchronized boolean canHandle(Document query) {
    return super.canHandle(query) || named(query) != null;
  }

  /** Where the document may be; whoever asks compares it with the whole query. */
  @Override
  public synchronized Iterable<Integer> getPositions(Document query) {
    String id = super.canHandle(query) ? null : named(query);
    return super.getPositions(id == null ? query : new Document(ID, id));
  }

  /**
   * The text that {@code _id} must equal, at the top of a query or in one of those that must all
   * hold.
   */
  private static String named(Document query) {
    if (query.get(ID) instanceof String id) {
      return id;
    }
    if (query.get("$and") instanceof Collection<?> all) {
      for (Object one : all) {
        if (one instanceof Document part && part.get(ID) instanceof String id) {
          return id;
        }
      }
    }
    return null;
  }
}
