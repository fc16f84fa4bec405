package assay.gclogpeer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * That what is measured is a reader at work: both count what stands in a log that both can read.
 */
class PeersTest {
  private static final String LOG =
      """
      [0.008s][info][gc] Using Serial
      [0.008s][info][gc,init] Version: 17.0.15+6 (release)
      [1.100s][info][gc,start] GC(0) Pause Young (Allocation Failure)
      [1.104s][info][gc      ] GC(0) Pause Young (Allocation Failure) 17M->5M(61M) 4.125ms
      [1.104s][info][gc,cpu  ] GC(0) User=0.00s Sys=0.00s Real=0.01s
      [2.000s][info][gc,start] GC(1) Pause Full (System.gc())
      [2.010s][info][gc      ] GC(1) Pause Full (System.gc()) 20M->4M(61M) 10.250ms
      [2.010s][info][gc,cpu  ] GC(1) User=0.01s Sys=0.00s Real=0.01s
      """;

  @TempDir Path folder;

  @Test
  void bothReadASerialLog() throws Exception {
    Path log = Files.writeString(folder.resolve("gc.log"), LOG);
    for (Peer peer : new Peer[] {new GcToolKitPeer(), new GcViewerPeer()}) {
      PauseSum sum = peer.read(log);
      assertThat(sum.pauses()).as(peer.name()).isEqualTo(2);
      assertThat(sum.totalMs()).as(peer.name()).isCloseTo(14.375, within(0.001));
    }
  }
}
