package assay.brokerage.web;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SessionCookieTest {
  private final SessionCookie cookies = new SessionCookie();

  @Test
  void aSignedCookieGivesItsAccount() {
    assertThat(cookies.verified(cookies.signed(4711))).hasValue(4711);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ".", "4711", "4711.", "4711.AAAA", ".AAAA", "x.y", "-1.AAAA"})
  void anUnsignedCookieGivesNone(String value) {
    assertThat(cookies.verified(value)).isEmpty();
  }

  @Test
  void aSignatureHoldsForOneAccountOnly() {
    String signature = cookies.signed(1).substring(1);
    assertThat(cookies.verified("2" + signature)).isEmpty();
  }

  @Test
  void anotherServersCookieGivesNone() {
    assertThat(new SessionCookie().verified(cookies.signed(1))).isEmpty();
  }
}
