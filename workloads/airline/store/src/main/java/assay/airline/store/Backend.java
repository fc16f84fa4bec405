package assay.airline.store;

import de.bwaldvogel.mongo.backend.Index;
import de.bwaldvogel.mongo.backend.IndexKey;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import de.bwaldvogel.mongo.backend.memory.MemoryDatabase;
import java.util.List;

/** Documents in memory, with an index that is used. */
final class Backend extends MemoryBackend {
  @Override
  public MemoryDatabase openOrCreateDatabase(String name) {
    return new MemoryDatabase(name, getCursorRegistry()) {
      @Override
      protected Index<Integer> openOrCreateUniqueIndex(
          String collection, String index, List<IndexKey> keys, boolean sparse) {
        return new IdIndex(index, keys, sparse);
      }
    };
  }
}
