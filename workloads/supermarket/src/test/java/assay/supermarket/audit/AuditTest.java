package assay.supermarket.audit;

import static org.assertj.core.api.Assertions.assertThat;

import assay.supermarket.TestCompany;
import assay.supermarket.message.Account;
import assay.supermarket.message.AgentBooks;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The audit holds over a company that traded, and over no books that anybody changed. */
class AuditTest {
  @Test
  void aCompanyThatTradedHoldsEveryInvariant() throws Exception {
    try (TestCompany company = new TestCompany("main").start()) {
      long receipts = company.trade(100);
      assertThat(receipts).isGreaterThan(400);
      AuditReport report = company.first().audit();
      assertThat(report.failed()).as(report.json()).isEmpty();
      assertThat(report.totals())
          .containsEntry("receipts.count", receipts)
          .satisfies(totals -> assertThat(totals.get("stock.delivered")).isGreaterThan(10_000))
          .satisfies(totals -> assertThat(totals.get("stock.received")).isGreaterThan(0))
          .satisfies(totals -> assertThat(totals.get("money.instalments")).isGreaterThan(0));
    }
  }

  @Test
  void businessCrossesGroupsAndHoldsEveryInvariant() throws Exception {
    try (TestCompany company = new TestCompany("north", "south", "east").start()) {
      long receipts = company.trade(40);
      AuditReport report = company.first().audit();
      assertThat(report.failed()).as(report.json()).isEmpty();
      assertThat(report.totals()).containsEntry("receipts.count", receipts);
      assertThat(report.totals().get("stock.received")).isGreaterThan(0);
    }
  }

  @Test
  void aResetGoesBackToTheSnapshot() throws Exception {
    try (TestCompany company = new TestCompany("north", "south").start()) {
      long credit = company.first().audit().totals().get("customers.credit_cents");
      long stock = company.first().audit().totals().get("stock.left");
      company.trade(20);
      assertThat(company.first().audit().totals().get("stock.left")).isNotEqualTo(stock);
      company.first().reset();
      AuditReport report = company.first().audit();
      assertThat(report.failed()).isEmpty();
      assertThat(report.totals())
          .containsEntry("customers.credit_cents", credit)
          .containsEntry("stock.left", stock)
          .containsEntry("receipts.count", 0L);
      company.trade(20);
      assertThat(company.first().audit().failed()).isEmpty();
    }
  }

  @ParameterizedTest(name = "{0} {1} changed by {2} breaks {3}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          main/headquarters/0 | receipts.count/main/supermarket/1   | -1 | receipts_at_headquarters_are_those_of_the_supermarkets
          main/headquarters/0 | receipts.cents/main/supermarket/0   |  1 | receipts_at_headquarters_are_those_of_the_supermarkets
          main/headquarters/0 | receipts#/main/supermarket/0        |  1 | receipts_at_headquarters_are_those_of_the_supermarkets
          main/headquarters/0 | receipts.off/main/supermarket/0     |  1 | receipts_at_headquarters_are_those_of_the_supermarkets
          main/headquarters/0 | pieces/main/supermarket/0           |  1 | receipts_at_headquarters_are_those_of_the_supermarkets
          main/headquarters/0 | pieces/main/supermarket/0#          |  1 | receipts_at_headquarters_are_those_of_the_supermarkets
          main/supermarket/0  | receipts.count                      |  1 | receipts_at_headquarters_are_those_of_the_supermarkets
          main/supermarket/0  | receipts#                           |  1 | receipts_at_headquarters_are_those_of_the_supermarkets
          main/supermarket/0  | stock.sold                          |  1 | receipts_at_headquarters_are_those_of_the_supermarkets
          main/supermarket/0  | stock.delivered                     | 40 | deliveries_are_what_suppliers_shipped
          main/supermarket/0  | delivered/main/supplier/1           | 40 | deliveries_are_what_suppliers_shipped
          main/supermarket/0  | delivered/main/supplier/1#          |  1 | deliveries_are_what_suppliers_shipped
          main/supplier/0     | shipped/main/supermarket/1          |  1 | deliveries_are_what_suppliers_shipped
          main/supplier/0     | shipped/main/supermarket/1#         |  1 | deliveries_are_what_suppliers_shipped
          main/supermarket/0  | stock.delivered#                    |  1 | deliveries_are_what_suppliers_shipped
          main/supermarket/1  | received/main/supermarket/0         |  1 | transfers_arrive_as_they_were_handed_over
          main/supermarket/1  | handed_over/main/supermarket/0#     |  1 | transfers_arrive_as_they_were_handed_over
          main/supermarket/1  | stock.handed_over                   |  1 | transfers_arrive_as_they_were_handed_over
          main/supermarket/1  | stock.opening                       |  1 | stock_left_is_opening_plus_delivered_minus_sold_plus_returned
          main/supermarket/1  | stock.left                          | -1 | stock_left_is_opening_plus_delivered_minus_sold_plus_returned
          main/supermarket/1  | stock.left#                         |  1 | stock_left_is_opening_plus_delivered_minus_sold_plus_returned
          main/supermarket/1  | stock.received                      |  1 | stock_left_is_opening_plus_delivered_minus_sold_plus_returned
          main/supermarket/1  | stock.returned                      |  1 | stock_left_is_opening_plus_delivered_minus_sold_plus_returned
          main/supermarket/1  | stock.products_off                  |  1 | stock_left_is_opening_plus_delivered_minus_sold_plus_returned
          main/supermarket/1  | stock.products_negative             |  1 | stock_left_is_opening_plus_delivered_minus_sold_plus_returned
          main/supermarket/1  | stock.ordered                       | 40 | stock_left_is_opening_plus_delivered_minus_sold_plus_returned
          main/supermarket/0  | money.cash                          | -1 | money_adds_up
          main/supermarket/0  | money.financed                      |  1 | money_adds_up
          main/supermarket/0  | money.instalments                   | -1 | money_adds_up
          main/supermarket/0  | money.refunded_cash                 |  1 | money_adds_up
          main/supermarket/0  | money.refunded_credit               |  1 | money_adds_up
          main/supermarket/0  | receipts.cents                      |  1 | money_adds_up
          main/supermarket/0  | customers.credit_cents              | -1 | money_adds_up
          main/supermarket/0  | customers.limit_cents               |  1 | money_adds_up
          main/supermarket/0  | customers.financed_cents            |  1 | money_adds_up
          main/supermarket/0  | customers.paid_cents                |  1 | money_adds_up
          main/supermarket/0  | customers.refunded_cents            |  1 | money_adds_up
          main/supermarket/0  | customers.off                       |  1 | money_adds_up
          main/supermarket/0  | mail.sent/main/headquarters/0       |  1 | each_message_took_effect_once
          main/supermarket/0  | mail.answered/main/supplier/0       | -1 | each_message_took_effect_once
          main/supermarket/0  | mail.effects/main/supplier/0        |  1 | each_message_took_effect_once
          main/supplier/1     | mail.effects/main/supermarket/1     | -1 | each_message_took_effect_once
          main/headquarters/0 | mail.effects/main/supermarket/1     |  1 | each_message_took_effect_once
          main/headquarters/0 | mail.effects/main/supermarket/9     |  1 | each_message_took_effect_once
          main/supermarket/0  | data.customers                      | -1 | all_agents_show_the_whole_data_set
          main/supermarket/0  | data.products                       |  1 | all_agents_show_the_whole_data_set
          """)
  void aChangedAccountFailsTheAudit(String agent, String account, long by, String broken)
      throws Exception {
    assertThat(failed(change(booksAfterTrade(), agent, account, by))).contains(broken);
  }

  @Test
  void booksThatAreMissingOrThereTwiceFailTheAudit() throws Exception {
    List<AgentBooks> books = booksAfterTrade();
    for (AgentBooks each : books) {
      List<AgentBooks> without = new ArrayList<>(books);
      without.remove(each);
      assertThat(failed(without)).contains("all_agents_show_the_whole_data_set");
      List<AgentBooks> twice = new ArrayList<>(books);
      twice.add(each);
      assertThat(failed(twice)).contains("all_agents_show_the_whole_data_set");
    }
  }

  private static List<AgentBooks> booksAfterTrade() throws Exception {
    try (TestCompany company = new TestCompany("main").start()) {
      company.trade(30);
      List<AgentBooks> books = company.first().books().agents();
      assertThat(failed(books)).isEmpty();
      return books;
    }
  }

  private static List<String> failed(List<AgentBooks> books) {
    return Audit.check(TestCompany.company("main"), TestCompany.SIZES, books).stream()
        .filter(verdict -> !verdict.holds())
        .map(Verdict::invariant)
        .toList();
  }

  private static List<AgentBooks> change(
      List<AgentBooks> books, String agent, String account, long by) {
    List<AgentBooks> changed = new ArrayList<>();
    for (AgentBooks each : books) {
      List<Account> accounts = new ArrayList<>(each.accounts());
      if (each.agent().equals(agent)) {
        long before = 0;
        for (Account one : each.accounts()) {
          before += one.name().equals(account) ? one.amount() : 0;
        }
        accounts.removeIf(one -> one.name().equals(account));
        accounts.add(new Account(account, before + by));
      }
      changed.add(new AgentBooks(each.agent(), accounts));
    }
    assertThat(changed).isNotEqualTo(books);
    return changed;
  }
}
