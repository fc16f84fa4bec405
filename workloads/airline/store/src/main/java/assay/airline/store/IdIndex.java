package assay.airline.store;

import de.bwaldvogel.mongo.backend.IndexKey;
import de.bwaldvogel.mongo.backend.memory.index.MemoryUniqueIndex;
import de.bwaldvogel.mongo.bson.Document;
import java.util.List;

/**
 * The index of {@code _id}, used for every query that names documents and wants more of them. The
 * library uses it only where nothing else is wanted, and reads the whole collection otherwise.
 */
final class IdIndex extends MemoryUniqueIndex {
  private static final String ID = "_id";

  IdIndex(String name, List<IndexKey> keys, boolean sparse) {
    super(name, keys, sparse);
  }

  @Override
  public synchronized boolean canHandle(Document query) {
    return super.canHandle(query) || super.canHandle(ids(query));
  }

  /** Where the document may be; whoever asks compares it with the whole query. */
  @Override
  public synchronized Iterable<Integer> getPositions(Document query) {
    return super.getPositions(super.canHandle(query) ? query : ids(query));
  }

  /** What a query wants of {@code _id}, alone. */
  private static Document ids(Document query) {
    return query.containsKey(ID) ? new Document(ID, query.get(ID)) : new Document();
  }
}
