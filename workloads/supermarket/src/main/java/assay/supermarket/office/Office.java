package assay.supermarket.office;

import assay.supermarket.link.Agent;
import assay.supermarket.link.AgentId;
import assay.supermarket.message.Acknowledgement;
import assay.supermarket.message.AuditAnswer;
import assay.supermarket.message.AuditQuery;
import assay.supermarket.message.BusinessQuery;
import assay.supermarket.message.BusinessState;
import assay.supermarket.message.HoldBusiness;
import assay.supermarket.message.InventoryQuery;
import assay.supermarket.message.InventoryReport;
import assay.supermarket.message.Message;
import assay.supermarket.message.ResetGroup;
import assay.supermarket.message.ResumeBusiness;
import assay.supermarket.post.Bookkeeper;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/**
 * The office of a group: holds its business back, resets its data and shows its books. It is the
 * one agent that knows others of its process as objects; that of headquarters audits the company.
 */
public final class Office implements Agent {
  private static final long HOLD_MS_MAX = 120_000;

  private final AgentId id;
  private final List<Bookkeeper> agents;
  private final Gate gate;
  private final Supplier<AuditAnswer> audit;
  private final Executor executor;

  /**
   * @param audit audits the company; asked for only at headquarters
   * @param executor may block
   */
  public Office(
      AgentId id,
      List<Bookkeeper> agents,
      Gate gate,
      Supplier<AuditAnswer> audit,
      Executor executor) {
    this.id = id;
    this.agents = List.copyOf(agents);
    this.gate = gate;
    this.audit = audit;
    this.executor = executor;
  }

  @Override
  public AgentId id() {
    return id;
  }

  @Override
  public CompletionStage<? extends Message> receive(Message message) {
    return CompletableFuture.supplyAsync(() -> answer(message), executor);
  }

  private Message answer(Message message) {
    if (message instanceof HoldBusiness hold) {
      return state(gate.hold(Math.max(0, Math.min(HOLD_MS_MAX, hold.forMs()))));
    } else if (message instanceof BusinessQuery query) {
      return state(query.holdSince());
    } else if (message instanceof ResumeBusiness resume) {
      gate.resume(resume.holdSince());
      return state(resume.holdSince());
    } else if (message instanceof ResetGroup reset) {
      return reset(reset);
    } else if (message instanceof InventoryQuery) {
      return new InventoryReport(agents.stream().map(Bookkeeper::books).toList());
    } else if (message instanceof AuditQuery) {
      return audit.get();
    }
    throw new IllegalArgumentException("an office does not take " + message);
  }

  private BusinessState state(long hold) {
    return new BusinessState(
        gate.isHeld(hold),
        hold,
        gate.underWay(),
        agents.stream().mapToLong(Bookkeeper::pending).sum(),
        agents.stream().mapToLong(Bookkeeper::effects).sum());
  }

  private Acknowledgement reset(ResetGroup reset) {
    BusinessState state = state(reset.holdSince());
    if (!state.held() || state.underWay() > 0 || state.pending() > 0) {
      throw new IllegalStateException("a reset while business goes on: " + state);
    }
    agents.forEach(Bookkeeper::restore);
    return new Acknowledgement(reset.holdSince());
  }
}
