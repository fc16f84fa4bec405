package assay.supermarket.web;

import assay.supermarket.Backend;
import assay.supermarket.link.Link;
import assay.supermarket.message.AuditAnswer;
import assay.supermarket.message.AuditQuery;
import assay.supermarket.model.Company;
import assay.supermarket.model.Refusal;
import assay.supermarket.office.Quiet;
import assay.supermarket.web.Counters.Outcome;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.ajax.JSON;

/** The HTTP front end of a group. A request is answered by the thread that ends its business. */
public final class Front extends Handler.Abstract.NonBlocking {
  private final Backend backend;
  private final Link link;
  private final Executor blocking;
  private final Operations operations;
  private final Map<String, Operation> byPath = new HashMap<>();
  private final Counters counters = new Counters();
  private final Map<String, Object> settings;

  /**
   * @param settings shown by {@code /stats}
   */
  public Front(
      Backend backend,
      Link link,
      Executor blocking,
      int partnerPermille,
      Map<String, Object> settings) {
    this.backend = backend;
    this.link = link;
    this.blocking = blocking;
    this.settings = settings;
    this.operations = new Operations(backend, link, partnerPermille);
    for (Operation operation : Operation.values()) {
      byPath.put(operation.path(), operation);
    }
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback) {
    String path = Request.getPathInContext(request);
    Operation operation = byPath.get(path);
    if (operation != null) {
      if (operation.method().equals(request.getMethod())) {
        operate(operation, request, response, callback);
      } else {
        write(
            response,
            callback,
            HttpStatus.METHOD_NOT_ALLOWED_405,
            problem("use " + operation.method()));
      }
      return true;
    }
    switch (request.getMethod() + " " + path) {
      case "GET /health" -> write(response, callback, HttpStatus.OK_200, "{\"state\":\"ready\"}");
      case "GET /stats" -> write(response, callback, HttpStatus.OK_200, stats());
      case "GET /audit" -> {
        if (backend.company().hasHeadquarters()) {
          blocking.execute(() -> write(response, callback, backend.auditAnswer()));
        } else {
          askForAudit(response, callback);
        }
      }
      case "POST /reset" -> blocking.execute(() -> reset(response, callback));
      default -> write(response, callback, HttpStatus.NOT_FOUND_404, problem("no such page"));
    }
    return true;
  }

  private void operate(Operation operation, Request request, Response response, Callback callback) {
    CompletionStage<Map<String, Object>> done;
    try {
      Parameters asked = new Parameters(Request.extractQueryParameters(request));
      done = backend.gate().through(() -> operations.begin(operation, asked));
    } catch (RuntimeException e) {
      failed(operation, response, callback, e);
      return;
    }
    var unused =
        done.whenComplete(
            (answer, failure) -> {
              if (failure == null) {
                counters.count(operation, Outcome.DONE);
                write(response, callback, HttpStatus.OK_200, new JSON().toJSON(answer));
              } else {
                failed(operation, response, callback, failure);
              }
            });
  }

  private void failed(
      Operation operation, Response response, Callback callback, Throwable failure) {
    Throwable cause = failure;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    Outcome outcome = Outcome.FAILED;
    int status = HttpStatus.INTERNAL_SERVER_ERROR_500;
    if (cause instanceof Parameters.Wrong) {
      outcome = Outcome.WRONG;
      status = HttpStatus.BAD_REQUEST_400;
    } else if (cause instanceof Refusal refusal) {
      boolean unknown = refusal.reason() == Refusal.Reason.UNKNOWN;
      outcome = unknown ? Outcome.WRONG : Outcome.OVERLOADED;
      status = unknown ? HttpStatus.NOT_FOUND_404 : HttpStatus.SERVICE_UNAVAILABLE_503;
    }
    counters.count(operation, outcome);
    write(response, callback, status, problem(String.valueOf(cause.getMessage())));
  }

  private void askForAudit(Response response, Callback callback) {
    var unused =
        link.send(
                Company.office(backend.company().groups().get(0)),
                new AuditQuery(backend.company().group()),
                AuditAnswer.class)
            .whenComplete(
                (answer, failure) -> {
                  if (failure == null) {
                    write(response, callback, answer);
                  } else {
                    write(
                        response,
                        callback,
                        HttpStatus.INTERNAL_SERVER_ERROR_500,
                        problem("headquarters gives no audit: " + failure));
                  }
                });
  }

  private static void write(Response response, Callback callback, AuditAnswer answer) {
    int status = answer.holds() ? HttpStatus.OK_200 : HttpStatus.INTERNAL_SERVER_ERROR_500;
    write(response, callback, status, answer.report());
  }

  private void reset(Response response, Callback callback) {
    long begin = System.nanoTime();
    try {
      backend.reset();
      long tookMs = (System.nanoTime() - begin) / 1_000_000;
      write(
          response,
          callback,
          HttpStatus.OK_200,
          "{\"state\":\"reset\",\"took_ms\":" + tookMs + "}");
    } catch (Quiet.NotQuiet e) {
      write(response, callback, HttpStatus.SERVICE_UNAVAILABLE_503, problem(e.getMessage()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      write(response, callback, HttpStatus.SERVICE_UNAVAILABLE_503, problem("interrupted"));
    }
  }

  private String stats() {
    Map<String, Object> stats = new LinkedHashMap<>();
    stats.put("schema", "assay.supermarket-stats/1");
    stats.put("settings", settings);
    stats.put("operations", counters.json());
    stats.put("things_not_answered", backend.pending());
    stats.put("requests_under_way", backend.gate().underWay());
    return new JSON().toJSON(stats);
  }

  private static String problem(String text) {
    return new JSON().toJSON(Map.of("problem", text));
  }

  private static void write(Response response, Callback callback, int status, String json) {
    response.setStatus(status);
    response.getHeaders().put(HttpHeader.CONTENT_TYPE, "application/json");
    response.write(true, BufferUtil.toBuffer(json, StandardCharsets.UTF_8), callback);
  }
}
