package assay.airline.booking;

import assay.airline.Refused;
import assay.airline.peer.PeerFailed;
import com.mongodb.MongoException;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Brings bookings to their end that their request could not, because a service did not answer: by
 * trying again until it does. What a killed instance left stands in the store, and is found by
 * {@link #recover}.
 */
@Singleton
public class Unfinished {
  private static final Logger LOG = System.getLogger(Unfinished.class.getName());
  private static final int PAUSE_MS = 500;

  private final Bookings bookings;
  private final BookingRecords records;
  private final ConcurrentLinkedQueue<String[]> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean areRecordsSuspect = new AtomicBoolean();
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          work -> {
            Thread thread = new Thread(work, "airline-unfinished");
            thread.setDaemon(true);
            return thread;
          });

  @Inject
  public Unfinished(Bookings bookings, BookingRecords records) {
    this.bookings = bookings;
    this.records = records;
  }

  /** Begins to look after what is given to {@link #add}. */
  void begin() {
    var unused =
        timer.scheduleWithFixedDelay(this::tryAgain, PAUSE_MS, PAUSE_MS, TimeUnit.MILLISECONDS);
  }

  @PreDestroy
  void end() {
    timer.shutdownNow();
  }

  /** Has it finished later. */
  void add(Booking booking) {
    waiting.add(new String[] {booking.customer(), booking.id()});
  }

  /**
   * Has all records looked through later: a request ended without an answer, and what it was to do
   * may have been done or not. Needs no memory.
   */
  void suspectRecords() {
    areRecordsSuspect.set(true);
  }

  /** Finishes all that the store holds unfinished; says how many these were. */
  int recover() throws PeerFailed {
    List<Booking> open = records.unfinished();
    for (Booking booking : open) {
      finish(booking);
    }
    return open.size();
  }

  /** What it throws would end the timer. */
  void tryAgain() {
    try {
      tryAll();
    } catch (OutOfMemoryError e) {
      // Nothing is logged, which takes memory. The next look finds what this one left.
      suspectRecords();
    }
  }

  private void tryAll() {
    try {
      if (areRecordsSuspect.getAndSet(false)) {
        tryRecords();
      }
      tryWaiting();
    } catch (RuntimeException e) {
      suspectRecords();
      LOG.log(Level.ERROR, "unfinished bookings are tried again", e);
    }
  }

  private void tryRecords() {
    try {
      int unused = recover();
    } catch (PeerFailed | MongoException e) {
      LOG.log(Level.DEBUG, "the store is looked through again: {0}", e.getMessage());
      suspectRecords();
    }
  }

  private void tryWaiting() {
    for (int i = waiting.size(); i > 0; i--) {
      String[] name = waiting.poll();
      if (name == null) {
        return;
      }
      try {
        var booking = records.find(name[0], name[1]);
        if (booking.isPresent()) {
          finish(booking.get());
        }
      } catch (PeerFailed | MongoException e) {
        LOG.log(Level.DEBUG, "booking {0} is tried again: {1}", name[1], e.getMessage());
        waiting.add(name);
      }
    }
  }

  private void finish(Booking booking) throws PeerFailed {
    try {
      Booking unused = bookings.finish(booking);
    } catch (Refused e) {
      // Taken back: an end as good as the other.
      LOG.log(Level.DEBUG, "booking {0}: {1}", booking.id(), e.getMessage());
    }
  }
}
