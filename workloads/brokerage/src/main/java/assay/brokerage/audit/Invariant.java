package assay.brokerage.audit;

import java.util.List;

/**
 * What must hold of the tables whenever no order is open.
 *
 * @param name what the audit's answer calls it
 * @param offenders a query whose rows are the violations; the first column names each
 */
record Invariant(String name, String offenders) {
  /**
   * The list, in words. For each account:
   *
   * <ul>
   *   <li>cash: balance = opening balance - purchases + sales - fees, over folded and kept orders;
   *   <li>shares: shares bought - shares sold = shares held;
   *   <li>basis: cost of purchases - cost of what was sold = cost of what is held;
   *   <li>orders: opened = folded + kept.
   * </ul>
   *
   * Each completed purchase has exactly one holding until it is sold and none afterwards; each sale
   * took one holding, which is gone; no holding is sold twice or promised to a sale that is not
   * there. Over all, each completed order moved the volume of its quote exactly once. The tables
   * keep their bounds.
   *
   * <p>The sums are unions that group to zero, not joins of grouped tables: those took a quarter of
   * an hour on 18,000 accounts, because neither H2 nor Derby hashes a derived table.
   */
  static final List<Invariant> ALL =
      List.of(
          new Invariant("no_order_is_open", "select id from orders where order_state = 'OPEN'"),
          new Invariant(
              "cash_of_each_account",
              """
              select account_id from
                (select id as account_id, balance - opening_balance + folded_buy_cost
                    - folded_sell_proceeds + folded_fees as off from account
                 union all
                 select account_id, case when order_type = 'BUY' then price * quantity
                    else -(price * quantity) end + fee as off from orders) parts
              group by account_id having sum(off) <> 0
              """),
          new Invariant(
              "shares_of_each_account",
              """
              select account_id from
                (select id as account_id, folded_shares_sold - folded_shares_bought as off from account
                 union all
                 select account_id, case when order_type = 'BUY' then -quantity else quantity end as off
                   from orders where order_state <> 'OPEN'
                 union all
                 select account_id, quantity as off from holding) parts
              group by account_id having sum(off) <> 0
              """),
          new Invariant(
              "basis_of_each_account",
              """
              select account_id from
                (select id as account_id, folded_sell_basis - folded_buy_cost as off from account
                 union all
                 select account_id, case when order_type = 'BUY' then -(price * quantity)
                    else cost_basis end as off from orders where order_state <> 'OPEN'
                 union all
                 select account_id, purchase_price * quantity as off from holding) parts
              group by account_id having sum(off) <> 0
              """),
          new Invariant(
              "orders_of_each_account",
              """
              select account_id from
                (select id as account_id, orders_opened - folded_orders as off from account
                 union all
                 select account_id, -1 as off from orders) parts
              group by account_id having sum(off) <> 0
              """),
          new Invariant(
              "one_holding_for_each_purchase_until_sold",
              """
              select purchase from
                (select id as purchase, 1 as kept, case when order_state = 'HELD' then -1 else 0 end as off
                   from orders where order_type = 'BUY'
                 union all
                 select buy_order_id as purchase, 0 as kept, 1 as off from holding) parts
              group by purchase having sum(kept) = 1 and sum(off) <> 0
              """),
          new Invariant(
              "no_purchase_has_two_holdings",
              "select buy_order_id from holding group by buy_order_id having count(*) > 1"),
          new Invariant(
              "holding_equals_its_purchase",
              """
              select h.id from holding h join orders o on o.id = h.buy_order_id
              where o.order_type <> 'BUY' or o.account_id <> h.account_id
                or o.symbol <> h.symbol or o.quantity <> h.quantity
                or o.price <> h.purchase_price or o.holding_id <> h.id
              """),
          new Invariant(
              "sold_holding_is_gone",
              """
              select o.id from orders o join holding h on h.id = o.holding_id
              where o.order_type = 'SELL' and o.order_state <> 'OPEN'
              """),
          new Invariant(
              "no_holding_is_sold_twice",
              """
              select holding_id from orders where order_type = 'SELL'
              group by holding_id having count(*) > 1
              """),
          new Invariant(
              "promised_holding_has_its_sale",
              """
              select h.id from holding h left join orders o
                on o.id = h.sell_order_id and o.order_type = 'SELL' and o.order_state = 'OPEN'
                and o.holding_id = h.id
              where h.sell_order_id is not null and o.id is null
              """),
          new Invariant(
              "volume_counts_each_order_once",
              """
              select q.volume - a.shares - o.shares from
                (select sum(volume) as volume from quote) q,
                (select sum(folded_shares_bought + folded_shares_sold + retired_shares) as shares
                  from account) a,
                (select coalesce(sum(quantity), 0) as shares
                  from orders where order_state <> 'OPEN') o
              where q.volume <> a.shares + o.shares
              """),
          new Invariant(
              "orders_belong_to_an_account_and_a_quote",
              """
              select o.id from orders o left join account a on a.id = o.account_id
                left join quote q on q.symbol = o.symbol
              where a.id is null or q.symbol is null
              """),
          new Invariant(
              "holdings_belong_to_an_account_and_a_quote",
              """
              select h.id from holding h left join account a on a.id = h.account_id
                left join quote q on q.symbol = h.symbol
              where a.id is null or q.symbol is null
              """),
          new Invariant(
              "each_account_has_its_profile",
              """
              select a.id from account a left join profile p on p.id = a.id where p.id is null
              """),
          new Invariant(
              "price_lies_within_its_day",
              """
              select symbol from quote where price < low_price or price > high_price
                or price_change <> price - open_price or price <= 0
              """),
          new Invariant(
              "kept_orders_are_bounded",
              """
              select account_id from orders where order_state <> 'OPEN'
              group by account_id having count(*) > 10
              """),
          new Invariant(
              "holdings_are_bounded",
              "select account_id from holding group by account_id having count(*) > 10"));
}
