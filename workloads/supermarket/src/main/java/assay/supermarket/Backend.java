package assay.supermarket;

import assay.supermarket.audit.AuditReport;
import assay.supermarket.data.Assortment;
import assay.supermarket.headquarters.Headquarters;
import assay.supermarket.link.Agent;
import assay.supermarket.link.AgentId;
import assay.supermarket.link.Link;
import assay.supermarket.message.AuditAnswer;
import assay.supermarket.model.Company;
import assay.supermarket.office.Gate;
import assay.supermarket.office.Office;
import assay.supermarket.office.Quiet;
import assay.supermarket.post.Bookkeeper;
import assay.supermarket.store.Supermarket;
import assay.supermarket.supplier.Supplier;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/** All agents of one group, wired to each other by a link and nothing else. */
public final class Backend {
  /**
   * Where agents work.
   *
   * @param supermarkets first tier: what customers ask
   * @param headquarters second tier: receipts
   * @param suppliers third tier
   * @param post fourth tier: the agents' mail
   * @param mining fifth tier: what is asked of headquarters
   * @param office for work that blocks: audits and resets
   */
  public record Executors(
      Executor supermarkets,
      Executor headquarters,
      Executor suppliers,
      Executor post,
      Executor mining,
      Executor office) {}

  private final Company company;
  private final Assortment assortment;
  private final List<Supermarket> supermarkets = new ArrayList<>();
  private final List<Bookkeeper> bookkeepers = new ArrayList<>();
  private final List<Agent> agents = new ArrayList<>();
  private final Gate gate;
  private final Quiet quiet;

  public Backend(Company company, Assortment assortment, Link link, Executors executors) {
    this.company = company;
    this.assortment = assortment;
    for (AgentId id : company.supermarkets(company.group())) {
      Supermarket supermarket =
          new Supermarket(
              id, company, assortment, link, executors.supermarkets(), executors.post());
      supermarkets.add(supermarket);
      add(supermarket);
    }
    for (AgentId id : company.suppliers(company.group())) {
      add(new Supplier(id, company, link, executors.suppliers()));
    }
    if (company.hasHeadquarters()) {
      add(
          new Headquarters(
              company,
              assortment,
              link,
              executors.headquarters(),
              executors.mining(),
              executors.post()));
    }
    gate = new Gate(executors.office());
    quiet = new Quiet(company.offices(), link);
    agents.add(
        new Office(
            Company.office(company.group()),
            bookkeepers,
            gate,
            this::auditAnswer,
            executors.office()));
  }

  private void add(Bookkeeper agent) {
    bookkeepers.add(agent);
    agents.add(agent);
  }

  /** All agents, to be made known to the link before {@link #start}. */
  public List<Agent> agents() {
    return List.copyOf(agents);
  }

  /** The agents begin to send. */
  public void start() {
    each(Bookkeeper::start);
  }

  public void stop() {
    each(Bookkeeper::stop);
  }

  private void each(Consumer<Bookkeeper> action) {
    bookkeepers.forEach(action);
  }

  /** Audits the company; blocks. Any group may, but headquarters' is the one to ask. */
  public AuditReport audit() throws Quiet.NotQuiet, InterruptedException {
    Quiet.Books books = books();
    return AuditReport.of(company, assortment.sizes(), books.waitedMs(), books.agents());
  }

  /** The books of all groups at rest; blocks. */
  public Quiet.Books books() throws Quiet.NotQuiet, InterruptedException {
    return quiet.books();
  }

  /** The audit as headquarters answers it; blocks. */
  public AuditAnswer auditAnswer() {
    if (!company.hasHeadquarters()) {
      throw new IllegalStateException("headquarters audits, not " + company.group());
    }
    try {
      AuditReport report = audit();
      return new AuditAnswer(report.holds(), report.json());
    } catch (Quiet.NotQuiet e) {
      return new AuditAnswer(false, AuditReport.unfinished(e.getMessage()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new AuditAnswer(false, AuditReport.unfinished("interrupted"));
    }
  }

  /** All groups go back to the snapshot; blocks. */
  public void reset() throws Quiet.NotQuiet, InterruptedException {
    quiet.reset();
  }

  public Company company() {
    return company;
  }

  public Assortment assortment() {
    return assortment;
  }

  public Gate gate() {
    return gate;
  }

  public List<Supermarket> supermarkets() {
    return List.copyOf(supermarkets);
  }

  /** Things of this group that are not answered. */
  public long pending() {
    return bookkeepers.stream().mapToLong(Bookkeeper::pending).sum();
  }
}
