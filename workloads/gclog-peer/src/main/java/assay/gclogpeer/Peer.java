package assay.gclogpeer;

import java.nio.file.Path;

/** Another reader of GC logs. */
interface Peer {
  /** Its name and version. */
  String name();

  /** Reads a log whole. */
  PauseSum read(Path log) throws Exception;
}
