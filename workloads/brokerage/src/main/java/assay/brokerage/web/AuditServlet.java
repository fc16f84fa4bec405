package assay.brokerage.web;

import assay.brokerage.audit.Audit;
import assay.brokerage.audit.AuditReport;
import assay.brokerage.audit.AuditReport.Verdict;
import assay.brokerage.audit.Ledger;
import jakarta.inject.Inject;
import jakarta.json.Json;
import jakarta.json.JsonArrayBuilder;
import jakarta.json.JsonObject;
import jakarta.json.JsonObjectBuilder;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.sql.SQLException;
import java.util.concurrent.TimeoutException;

/** {@code /audit}: 200 when every invariant holds, 500 with those that do not. */
@WebServlet("/audit")
public class AuditServlet extends HttpServlet {
  private static final long serialVersionUID = 1;

  @Inject private transient Audit audit;
  @Inject private transient Readiness readiness;

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    if (!readiness.isReady()) {
      JsonAnswer.write(
          response,
          HttpServletResponse.SC_SERVICE_UNAVAILABLE,
          JsonAnswer.problem(readiness.state()));
      return;
    }
    try {
      AuditReport report = audit.audit();
      int status =
          report.holds() ? HttpServletResponse.SC_OK : HttpServletResponse.SC_INTERNAL_SERVER_ERROR;
      JsonAnswer.write(response, status, json(report));
    } catch (SQLException | TimeoutException e) {
      unfinished(response, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      unfinished(response, e);
    }
  }

  private static void unfinished(HttpServletResponse response, Exception e) throws IOException {
    JsonAnswer.write(
        response,
        HttpServletResponse.SC_INTERNAL_SERVER_ERROR,
        JsonAnswer.problem("the audit could not be finished: " + e));
  }

  private static JsonObject json(AuditReport report) {
    JsonArrayBuilder verdicts = Json.createArrayBuilder();
    for (Verdict verdict : report.verdicts()) {
      verdicts.add(
          Json.createObjectBuilder()
              .add("name", verdict.invariant())
              .add("holds", verdict.holds())
              .add("offenders", Json.createArrayBuilder(verdict.offenders())));
    }
    return Json.createObjectBuilder()
        .add("schema", "assay.brokerage-audit/1")
        .add("holds", report.holds())
        .add("failed", Json.createArrayBuilder(report.failed()))
        .add("waited_ms", report.waitedMs())
        .add("ledger", json(report.ledger()))
        .add("invariants", verdicts)
        .build();
  }

  private static JsonObjectBuilder json(Ledger ledger) {
    return Json.createObjectBuilder()
        .add("opening_balances", ledger.openingBalances())
        .add("realised_gains", ledger.realisedGains())
        .add("balances", ledger.balances())
        .add("fees", ledger.fees())
        .add("holdings_cost", ledger.holdingsCost())
        .add("open_purchases_cost", ledger.openPurchasesCost())
        .add("open_sales_cost", ledger.openSalesCost())
        .add("difference", ledger.difference());
  }
}
