package assay.airline.token;

import jakarta.json.Json;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.Signature;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.UUID;

/** Signs JSON Web Tokens with RS256 (RFC 7519, RFC 7518) and the claims of MicroProfile JWT. */
public final class TokenSigner {
  /** Whom services take tokens from. */
  public static final String ISSUER = "assay-airline";

  /** For how long a token holds. */
  public static final Duration LIFETIME = Duration.ofMinutes(60);

  private static final Base64.Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();
  private static final String HEADER = encoded("{\"alg\":\"RS256\",\"typ\":\"JWT\"}");

  private final PrivateKey key;

  public TokenSigner(PrivateKey key) {
    this.key = key;
  }

  /** A token for a subject who belongs to one group, from now on. */
  public String sign(String subject, String group, Instant now) {
    String claims =
        Json.createObjectBuilder()
            .add("iss", ISSUER)
            .add("sub", subject)
            .add("upn", subject)
            .add("groups", Json.createArrayBuilder().add(group))
            .add("iat", now.getEpochSecond())
            .add("exp", now.plus(LIFETIME).getEpochSecond())
            .add("jti", UUID.randomUUID().toString())
            .build()
            .toString();
    String signed = HEADER + "." + encoded(claims);
    try {
      // Not shared: a Signature has state.
      Signature signature = Signature.getInstance("SHA256withRSA");
      signature.initSign(key);
      signature.update(signed.getBytes(StandardCharsets.US_ASCII));
      return signed + "." + BASE64.encodeToString(signature.sign());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has SHA256withRSA", e);
    }
  }

  private static String encoded(String json) {
    return BASE64.encodeToString(json.getBytes(StandardCharsets.UTF_8));
  }
}
