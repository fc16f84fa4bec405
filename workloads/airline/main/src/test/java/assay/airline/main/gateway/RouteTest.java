package assay.airline.main.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RouteTest {
  @Test
  void customersReachTheirPathsAndNothingThatServicesAskEachOther() {
    assertThat(Route.of("/auth/login")).contains(Route.LOGIN);
    assertThat(Route.of("/customers/c7")).contains(Route.CUSTOMERS);
    assertThat(Route.of("/flights")).contains(Route.FLIGHTS);
    assertThat(Route.of("/bookings/cancel-oldest")).contains(Route.BOOKINGS);
    for (String path : new String[] {"/auth/service", "/auth", "/internal/ledger", "/flightsx"}) {
      assertThat(Route.of(path)).as(path).isEmpty();
    }
  }
}
