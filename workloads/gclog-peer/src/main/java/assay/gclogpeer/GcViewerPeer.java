package assay.gclogpeer;

import com.tagtraum.perf.gcviewer.imp.DataReaderException;
import com.tagtraum.perf.gcviewer.imp.DataReaderFacade;
import com.tagtraum.perf.gcviewer.model.GcResourceFile;
import java.nio.file.Path;

/** GCViewer: all that stops the application, as its summary has it. */
final class GcViewerPeer implements Peer {
  @Override
  public String name() {
    return "GCViewer 1.36";
  }

  @Override
  public PauseSum read(Path log) throws DataReaderException {
    var pause = new DataReaderFacade().loadModel(new GcResourceFile(log.toFile())).getPause();
    return new PauseSum(pause.getN(), pause.getN() == 0 ? 0 : pause.getSum() * 1_000);
  }
}
