package assay.airline.token;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import assay.airline.token.TokenVerifier.Claims;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Base64;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TokenVerifierTest {
  private static final Instant NOW = Instant.ofEpochSecond(1_900_000_000);

  @TempDir Path scratch;
  private KeyFolder keys;
  private TokenVerifier verifier;
  private String token;

  @BeforeEach
  void sign() throws IOException {
    keys = new KeyFolder(scratch.resolve("keys"));
    verifier = new TokenVerifier(keys);
    token = new TokenSigner(keys.privateKey()).sign("c7", Groups.CUSTOMER, NOW);
  }

  @Test
  void aTokenHoldsFromItsSigningToItsEnd() throws Exception {
    assertThat(verifier.verify(token, NOW)).contains(new Claims("c7", Groups.CUSTOMER));
    Instant end = NOW.plus(TokenSigner.LIFETIME);
    assertThat(verifier.verify(token, end.minusSeconds(1))).isPresent();
    assertThat(verifier.verify(token, end)).isEmpty();
  }

  @Test
  void whatWasChangedOrSignedByAnotherIsNotTaken() throws Exception {
    String[] parts = token.split("\\.", -1);
    String claims = new String(Base64.getUrlDecoder().decode(parts[1]), StandardCharsets.UTF_8);
    String other = encoded(claims.replace("\"c7\"", "\"c8\""));
    assertThat(verifier.verify(parts[0] + "." + other + "." + parts[2], NOW)).isEmpty();
    String none = encoded("{\"alg\":\"none\"}");
    assertThat(verifier.verify(none + "." + parts[1] + ".", NOW)).isEmpty();
    assertThat(verifier.verify(none + "." + parts[1] + "." + parts[2], NOW)).isEmpty();
    TokenSigner stranger = new TokenSigner(new KeyFolder(scratch.resolve("x")).privateKey());
    assertThat(verifier.verify(stranger.sign("c7", Groups.CUSTOMER, NOW), NOW)).isEmpty();
  }

  @Test
  void whatIsNoTokenIsNotTaken() throws Exception {
    for (String text :
        new String[] {"", ".", "..", "a.b", "a.b.c", "####.e30.x", "x".repeat(9_999)}) {
      assertThat(verifier.verify(text, NOW)).as(text).isEmpty();
    }
    String header = token.substring(0, token.indexOf('.'));
    assertThat(verifier.verify(header + "." + encoded("[1]") + ".AAAA", NOW)).isEmpty();
  }

  @Test
  void withoutAKeyNothingIsSaidOfAToken() {
    TokenVerifier early = new TokenVerifier(new KeyFolder(scratch.resolve("none")));
    assertThatThrownBy(() -> early.verify(token, NOW)).isInstanceOf(IOException.class);
  }

  private static String encoded(String json) {
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(json.getBytes(StandardCharsets.UTF_8));
  }
}
