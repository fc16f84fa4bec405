package assay.supermarket.office;

import assay.supermarket.link.AgentId;
import assay.supermarket.link.Link;
import assay.supermarket.message.Acknowledgement;
import assay.supermarket.message.AgentBooks;
import assay.supermarket.message.BusinessQuery;
import assay.supermarket.message.BusinessState;
import assay.supermarket.message.HoldBusiness;
import assay.supermarket.message.InventoryQuery;
import assay.supermarket.message.InventoryReport;
import assay.supermarket.message.Message;
import assay.supermarket.message.ResetGroup;
import assay.supermarket.message.ResumeBusiness;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Brings the whole company to rest, looks or resets, and lets business go on. Blocks its caller.
 */
public final class Quiet {
  private static final long HOLD_MS = 90_000;
  private static final long REST_MS_MAX = 20_000;
  private static final long POLL_MS = 10;
  private static final long ANSWER_MS_MAX = 20_000;

  /** The company did not come to rest. */
  public static final class NotQuiet extends Exception {
    private static final long serialVersionUID = 1;

    NotQuiet(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /** All books of the company at rest, and how long that took. */
  public record Books(long waitedMs, List<AgentBooks> agents) {}

  private final List<AgentId> offices;
  private final Link link;
  private final ReentrantLock one = new ReentrantLock();

  public Quiet(List<AgentId> offices, Link link) {
    this.offices = offices;
    this.link = link;
  }

  /** The books of all groups, of one moment. */
  public Books books() throws NotQuiet, InterruptedException {
    long begin = System.nanoTime();
    List<AgentBooks> all = new ArrayList<>();
    long[] waitedMs = new long[1];
    atRest(
        holds -> {
          waitedMs[0] = (System.nanoTime() - begin) / 1_000_000;
          for (AgentId office : offices) {
            all.addAll(
                ask(office, new InventoryQuery(offices.get(0).toString()), InventoryReport.class)
                    .agents());
          }
        });
    return new Books(waitedMs[0], all);
  }

  /** All groups go back to the snapshot. */
  public void reset() throws NotQuiet, InterruptedException {
    atRest(
        holds -> {
          for (AgentId office : offices) {
            ask(office, new ResetGroup(holds.get(office)), Acknowledgement.class);
          }
        });
  }

  private interface Work {
    void run(Map<AgentId, Long> holds) throws NotQuiet, InterruptedException;
  }

  private void atRest(Work work) throws NotQuiet, InterruptedException {
    Map<AgentId, Long> holds = new LinkedHashMap<>();
    one.lockInterruptibly();
    try {
      for (AgentId office : offices) {
        holds.put(office, ask(office, new HoldBusiness(HOLD_MS), BusinessState.class).holdSince());
      }
      long effects = awaitRest(holds);
      work.run(holds);
      Sum after = sum(holds);
      if (!after.isAtRest || after.effects != effects) {
        throw new NotQuiet("business went on meanwhile", null);
      }
    } finally {
      try {
        holds.forEach(
            (office, hold) -> {
              // A group that does not hear it goes on by itself when its hold ends.
              var unused = link.send(office, new ResumeBusiness(hold), BusinessState.class);
            });
      } finally {
        one.unlock();
      }
    }
  }

  /** All groups at one look. */
  private record Sum(boolean isAtRest, long effects, String text) {}

  private Sum sum(Map<AgentId, Long> holds) throws NotQuiet, InterruptedException {
    boolean isAtRest = true;
    long effects = 0;
    StringBuilder text = new StringBuilder();
    for (Map.Entry<AgentId, Long> hold : holds.entrySet()) {
      BusinessState state =
          ask(hold.getKey(), new BusinessQuery(hold.getValue()), BusinessState.class);
      if (!state.held()) {
        throw new NotQuiet(hold.getKey() + " let business go on", null);
      }
      isAtRest &= state.underWay() == 0 && state.pending() == 0;
      effects += state.effects();
      text.append(hold.getKey())
          .append(": ")
          .append(state.underWay())
          .append(" requests under way, ");
      text.append(state.pending()).append(" things not answered; ");
    }
    return new Sum(isAtRest, effects, text.toString());
  }

  /** Two looks in a row that show nothing under way and no effect between them. */
  private long awaitRest(Map<AgentId, Long> holds) throws NotQuiet, InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(REST_MS_MAX);
    Sum before = sum(holds);
    while (true) {
      Thread.sleep(POLL_MS);
      Sum now = sum(holds);
      if (before.isAtRest && now.isAtRest && before.effects == now.effects) {
        return now.effects;
      }
      if (System.nanoTime() > deadline) {
        throw new NotQuiet("no rest within " + REST_MS_MAX + " ms: " + now.text, null);
      }
      before = now;
    }
  }

  private <R extends Message> R ask(AgentId office, Message question, Class<R> answer)
      throws NotQuiet, InterruptedException {
    CompletableFuture<R> asked = link.send(office, question, answer).toCompletableFuture();
    try {
      return asked.get(ANSWER_MS_MAX, TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new NotQuiet(office + " does not answer: " + e, e);
    }
  }
}
