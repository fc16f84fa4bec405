package assay.gclogpeer;

import com.microsoft.gctoolkit.GCToolKit;
import com.microsoft.gctoolkit.aggregator.Aggregates;
import com.microsoft.gctoolkit.aggregator.Aggregation;
import com.microsoft.gctoolkit.aggregator.Aggregator;
import com.microsoft.gctoolkit.aggregator.Collates;
import com.microsoft.gctoolkit.aggregator.EventSource;
import com.microsoft.gctoolkit.event.g1gc.G1GCPauseEvent;
import com.microsoft.gctoolkit.event.generational.GenerationalGCPauseEvent;
import com.microsoft.gctoolkit.event.zgc.FullZGCCycle;
import com.microsoft.gctoolkit.event.zgc.MajorZGCCycle;
import com.microsoft.gctoolkit.event.zgc.MinorZGCCycle;
import com.microsoft.gctoolkit.event.zgc.ZGCCycle;
import com.microsoft.gctoolkit.io.SingleGCLogFile;
import java.io.IOException;
import java.nio.file.Path;

/**
 * GCToolKit: the events of its collectors that it calls pauses, and the three pauses of each part
 * of a ZGC cycle. Of Shenandoah it has cycles without pauses.
 */
final class GcToolKitPeer implements Peer {
  @Override
  public String name() {
    return "GCToolKit 3.5.0";
  }

  @Override
  public PauseSum read(Path log) throws IOException {
    Pauses pauses = new Pauses();
    GCToolKit toolKit = new GCToolKit();
    toolKit.loadAggregation(pauses);
    toolKit.analyze(new SingleGCLogFile(log));
    return pauses.sum();
  }

  /** Counts; the library calls it from threads of its own. */
  @Collates(PauseAggregator.class)
  public static final class Pauses extends Aggregation {
    private long count;
    private double totalSeconds;

    synchronized void add(double seconds) {
      count++;
      totalSeconds += seconds;
    }

    synchronized PauseSum sum() {
      return new PauseSum(count, totalSeconds * 1_000);
    }

    @Override
    public boolean hasWarning() {
      return false;
    }

    @Override
    public synchronized boolean isEmpty() {
      return count == 0;
    }
  }

  /** Takes events of all collectors. */
  @Aggregates({EventSource.G1GC, EventSource.GENERATIONAL, EventSource.ZGC, EventSource.SHENANDOAH})
  public static final class PauseAggregator extends Aggregator<Pauses> {
    /** The library has lengths in seconds, but those of ZGC in milliseconds. */
    private static final double MS_PER_S = 1_000;

    /** For the library. */
    public PauseAggregator(Pauses pauses) {
      super(pauses);
      register(G1GCPauseEvent.class, event -> pauses.add(event.getDuration()));
      register(GenerationalGCPauseEvent.class, event -> pauses.add(event.getDuration()));
      register(
          FullZGCCycle.class,
          cycle -> {
            pauses.add(cycle.getPauseMarkStartDuration() / MS_PER_S);
            pauses.add(cycle.getPauseMarkEndDuration() / MS_PER_S);
            pauses.add(cycle.getPauseRelocateStartDuration() / MS_PER_S);
          });
      register(MinorZGCCycle.class, cycle -> add(pauses, cycle.getYoungCycle()));
      register(
          MajorZGCCycle.class,
          cycle -> {
            add(pauses, cycle.getYoungCycle());
            add(pauses, cycle.getOldCycle());
          });
    }

    private static void add(Pauses pauses, ZGCCycle part) {
      if (part == null) {
        return;
      }
      if (part.getPauseMarkStartTimeStamp() != null) {
        pauses.add(part.getPauseMarkStartDuration() / MS_PER_S);
      }
      pauses.add(part.getPauseMarkEndDuration() / MS_PER_S);
      pauses.add(part.getPauseRelocateStartDuration() / MS_PER_S);
    }
  }
}
