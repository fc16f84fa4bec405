package assay.supermarket.audit;

import assay.supermarket.link.AgentId;
import assay.supermarket.message.Account;
import assay.supermarket.message.AgentBooks;
import assay.supermarket.model.Company;
import assay.supermarket.model.Sizes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Proves from the books of all agents that no goods, receipts, cents or messages were lost, made up
 * or done twice. Uses no code of the agents. An account whose name ends with # is a fingerprint:
 * where sums are equal and fingerprints are, each product has the same quantity on both sides.
 */
public final class Audit {
  private static final int OFFENDERS_SHOWN_MAX = 5;

  private final Company company;
  private final Sizes sizes;
  private final Map<String, Map<String, Long>> books = new TreeMap<>();
  private final List<Verdict> verdicts = new ArrayList<>();
  private List<String> offenders = new ArrayList<>();

  private Audit(Company company, Sizes sizes) {
    this.company = company;
    this.sizes = sizes;
  }

  /** What the books of the company at rest say. */
  public static List<Verdict> check(Company company, Sizes sizes, List<AgentBooks> agents) {
    Audit audit = new Audit(company, sizes);
    audit.open(agents);
    audit.stock();
    audit.deliveries();
    audit.transfers();
    audit.receipts();
    audit.money();
    audit.messages();
    return audit.verdicts;
  }

  private void open(List<AgentBooks> agents) {
    for (AgentBooks agent : agents) {
      Map<String, Long> accounts = new TreeMap<>();
      for (Account account : agent.accounts()) {
        if (accounts.put(account.name(), account.amount()) != null) {
          offenders.add(agent.agent() + " has " + account.name() + " twice");
        }
      }
      if (books.put(agent.agent(), accounts) != null) {
        offenders.add(agent.agent() + " has two books");
      }
    }
    for (AgentId agent : allAgents()) {
      if (!books.containsKey(agent.toString())) {
        offenders.add(agent + " has no books");
      }
    }
    for (AgentId supermarket : company.supermarkets()) {
      equal(supermarket + " customers", sizes.customers(), of(supermarket, "data.customers"));
      equal(supermarket + " products", sizes.products(), of(supermarket, "data.products"));
    }
    verdict("all_agents_show_the_whole_data_set");
  }

  private void stock() {
    for (AgentId supermarket : company.supermarkets()) {
      for (String fingerprint : List.of("", "#")) {
        long expected =
            of(supermarket, "stock.opening" + fingerprint)
                + of(supermarket, "stock.delivered" + fingerprint)
                + of(supermarket, "stock.received" + fingerprint)
                - of(supermarket, "stock.handed_over" + fingerprint)
                - of(supermarket, "stock.sold" + fingerprint)
                + of(supermarket, "stock.returned" + fingerprint);
        equal(
            supermarket + " stock" + fingerprint,
            expected,
            of(supermarket, "stock.left" + fingerprint));
      }
      equal(supermarket + " products off", 0, of(supermarket, "stock.products_off"));
      equal(supermarket + " products below zero", 0, of(supermarket, "stock.products_negative"));
      equal(supermarket + " pieces still ordered", 0, of(supermarket, "stock.ordered"));
    }
    verdict("stock_left_is_opening_plus_delivered_minus_sold_plus_returned");
  }

  private void deliveries() {
    for (AgentId supermarket : company.supermarkets()) {
      long[] all = new long[2];
      for (AgentId supplier : company.suppliers(supermarket.group())) {
        all[0] += pair(supplier, "shipped/", supermarket, "delivered/");
        all[1] += of(supplier, "shipped/" + supermarket + "#");
      }
      equal(supermarket + " delivered", all[0], of(supermarket, "stock.delivered"));
      equal(supermarket + " delivered#", all[1], of(supermarket, "stock.delivered#"));
    }
    verdict("deliveries_are_what_suppliers_shipped");
  }

  private void transfers() {
    for (AgentId from : company.supermarkets()) {
      long[] all = new long[2];
      for (AgentId to : company.supermarkets()) {
        all[0] += pair(from, "handed_over/", to, "received/");
        all[1] += of(from, "handed_over/" + to + "#");
      }
      equal(from + " handed over", all[0], of(from, "stock.handed_over"));
      equal(from + " handed over#", all[1], of(from, "stock.handed_over#"));
    }
    verdict("transfers_arrive_as_they_were_handed_over");
  }

  private void receipts() {
    AgentId headquarters = company.headquarters();
    for (AgentId supermarket : company.supermarkets()) {
      for (String sum : List.of("receipts.count", "receipts.cents", "receipts#")) {
        equal(
            supermarket + " " + sum,
            of(supermarket, sum),
            of(headquarters, sum + "/" + supermarket));
      }
      equal(supermarket + " receipts off", 0, of(headquarters, "receipts.off/" + supermarket));
      for (String fingerprint : List.of("", "#")) {
        equal(
            supermarket + " pieces" + fingerprint,
            of(supermarket, "stock.sold" + fingerprint)
                - of(supermarket, "stock.returned" + fingerprint),
            of(headquarters, "pieces/" + supermarket + fingerprint));
      }
    }
    verdict("receipts_at_headquarters_are_those_of_the_supermarkets");
  }

  private void money() {
    for (AgentId s : company.supermarkets()) {
      equal(s + " customers off", 0, of(s, "customers.off"));
      equal(s + " financed", of(s, "money.financed"), of(s, "customers.financed_cents"));
      equal(s + " instalments", of(s, "money.instalments"), of(s, "customers.paid_cents"));
      equal(s + " refunded", of(s, "money.refunded_credit"), of(s, "customers.refunded_cents"));
      equal(
          s + " credit and debt",
          of(s, "customers.limit_cents"),
          of(s, "customers.credit_cents")
              + of(s, "money.financed")
              - of(s, "money.instalments")
              - of(s, "money.refunded_credit"));
      equal(
          s + " revenue",
          of(s, "receipts.cents"),
          of(s, "money.cash")
              + of(s, "money.financed")
              - of(s, "money.refunded_cash")
              - of(s, "money.refunded_credit"));
    }
    verdict("money_adds_up");
  }

  /** Also messages from or to an agent that is none of the company are an offence. */
  private void messages() {
    for (Map.Entry<String, Map<String, Long>> book : books.entrySet()) {
      for (Map.Entry<String, Long> account : book.getValue().entrySet()) {
        String name = account.getKey();
        String other = name.substring(name.indexOf('/') + 1);
        if (name.startsWith("mail.sent/")) {
          String path = book.getKey() + " to " + other;
          equal(
              path + " answered", account.getValue(), of(book.getKey(), "mail.answered/" + other));
          equal(path + " effects", account.getValue(), of(other, "mail.effects/" + book.getKey()));
        } else if (name.startsWith("mail.effects/")) {
          equal(
              other + " to " + book.getKey() + " sent",
              of(other, "mail.sent/" + book.getKey()),
              account.getValue());
        }
      }
    }
    verdict("each_message_took_effect_once");
  }

  private long pair(AgentId from, String out, AgentId to, String in) {
    for (String fingerprint : List.of("", "#")) {
      equal(
          from + " to " + to + fingerprint,
          of(from, out + to + fingerprint),
          of(to, in + from + fingerprint));
    }
    return of(from, out + to);
  }

  private List<AgentId> allAgents() {
    List<AgentId> all = new ArrayList<>(company.supermarkets());
    company.groups().forEach(group -> all.addAll(company.suppliers(group)));
    all.add(company.headquarters());
    return all;
  }

  private long of(AgentId agent, String account) {
    return of(agent.toString(), account);
  }

  /** An account that was never opened is 0: nothing went through it. */
  private long of(String agent, String account) {
    return books.getOrDefault(agent, Map.of()).getOrDefault(account, 0L);
  }

  private void equal(String what, long expected, long found) {
    if (expected != found) {
      offenders.add(what + ": " + expected + " is not " + found);
    }
  }

  private void verdict(String invariant) {
    List<String> shown = offenders.subList(0, Math.min(OFFENDERS_SHOWN_MAX, offenders.size()));
    verdicts.add(new Verdict(invariant, List.copyOf(shown)));
    offenders = new ArrayList<>();
  }
}
