package assay.brokerage.web;

import assay.brokerage.Limits;
import assay.brokerage.Refused;
import assay.brokerage.Refused.Reason;
import assay.brokerage.database.DataSet;
import assay.brokerage.database.DataSetSize;
import jakarta.inject.Inject;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

/**
 * Draws the operation and its values by the standard mix from the seed in the request: {@code
 * /scenario?seed=7}. The customer is the session's, or without a cookie one drawn from the seed
 * too. Without a seed a running number is one, for tools that can only repeat one URL.
 */
@WebServlet("/scenario")
public class ScenarioServlet extends PageServlet {
  private static final long serialVersionUID = 1;
  private static final int SYMBOLS_DRAWN_MAX = 9;

  @Inject private transient DataSetSize size;
  private final transient AtomicLong running = new AtomicLong();

  @Override
  Optional<Asked> asked(HttpServletRequest request, SessionCookie cookies) {
    SplittableRandom random = new SplittableRandom(seed(request.getParameter("seed")));
    int drawn = random.nextInt(size.users());
    int account = cookies.account(request).orElse(drawn);
    Operation operation = Operation.draw(random);
    return Optional.of(
        new Asked(operation, new Visit(OptionalInt.of(account), values(operation, random))));
  }

  private long seed(String text) {
    if (text == null) {
      return running.incrementAndGet();
    }
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw new Refused(Reason.INVALID, "seed: is no whole number");
    }
  }

  private Map<String, String> values(Operation operation, SplittableRandom random) {
    return switch (operation) {
      case QUOTES -> Map.of("symbols", symbols(random));
      case BUY, SELL ->
          Map.of(
              "symbol", symbol(random),
              "quantity", String.valueOf(1 + random.nextInt(Limits.QUANTITY_MAX)));
      case REGISTER, UPDATE -> details(random);
      default -> Map.of();
    };
  }

  private String symbols(SplittableRandom random) {
    return random
        .ints(1 + random.nextInt(SYMBOLS_DRAWN_MAX), 0, size.quotes())
        .mapToObj(i -> "s:" + i)
        .collect(Collectors.joining(","));
  }

  private String symbol(SplittableRandom random) {
    return "s:" + random.nextInt(size.quotes());
  }

  private static Map<String, String> details(SplittableRandom random) {
    int number = random.nextInt(1_000_000);
    return Map.of(
        "password", DataSet.PASSWORD,
        "name", "Customer " + number,
        "address", number % 1000 + " Exchange Place",
        "email", "customer" + number + "@example.com",
        "credit_card", "4000-1111-0000-" + String.format("%04d", number % 10_000));
  }
}
