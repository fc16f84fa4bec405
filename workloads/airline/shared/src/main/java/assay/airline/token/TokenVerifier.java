package assay.airline.token;

import assay.airline.settings.Settings;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.json.Json;
import jakarta.json.JsonException;
import jakarta.json.JsonObject;
import jakarta.json.JsonReader;
import jakarta.json.JsonString;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PublicKey;
import java.security.Signature;
import java.time.Instant;
import java.util.Base64;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/** Verifies the tokens that {@link TokenSigner} signs, and takes no others. */
@Singleton
public class TokenVerifier {
  private static final int PARTS = 3;
  private static final int TOKEN_CHARS_MAX = 4_096;

  private final KeyFolder keys;
  private final AtomicReference<PublicKey> known = new AtomicReference<>();

  /** What a token says. */
  public record Claims(String subject, String group) {}

  @Inject
  public TokenVerifier(Settings settings) {
    this(new KeyFolder(Path.of(settings.text("AIRLINE_KEYS"))));
  }

  TokenVerifier(KeyFolder keys) {
    this.keys = keys;
  }

  /**
   * Nothing if the token is not signed by the key, not for now, or not a token.
   *
   * @throws IOException if there is no key (yet)
   */
  public Optional<Claims> verify(String token, Instant now) throws IOException {
    String[] parts = token.split("\\.", -1);
    if (token.length() > TOKEN_CHARS_MAX || parts.length != PARTS) {
      return Optional.empty();
    }
    try {
      JsonObject header = json(parts[0]);
      // Whatever else a token says of its algorithm, it is verified by this one.
      if (!header.getString("alg", "").equals("RS256") || !isSigned(parts)) {
        return Optional.empty();
      }
      JsonObject claims = json(parts[1]);
      boolean holds =
          claims.getString("iss", "").equals(TokenSigner.ISSUER)
              && now.getEpochSecond() < claims.getJsonNumber("exp").longValue();
      String group = claims.getJsonArray("groups").getValuesAs(JsonString::getString).get(0);
      return holds ? Optional.of(new Claims(claims.getString("upn"), group)) : Optional.empty();
    } catch (JsonException
        | IllegalArgumentException
        | NullPointerException
        | IndexOutOfBoundsException
        | ClassCastException e) {
      return Optional.empty();
    }
  }

  private boolean isSigned(String[] parts) throws IOException {
    PublicKey key = key();
    try {
      Signature signature = Signature.getInstance("SHA256withRSA");
      signature.initVerify(key);
      signature.update((parts[0] + "." + parts[1]).getBytes(StandardCharsets.US_ASCII));
      return signature.verify(Base64.getUrlDecoder().decode(parts[2]));
    } catch (GeneralSecurityException e) {
      // A signature of another length.
      return false;
    }
  }

  private PublicKey key() throws IOException {
    PublicKey key = known.get();
    if (key == null) {
      key = keys.publicKey();
      known.set(key);
    }
    return key;
  }

  private static JsonObject json(String part) {
    byte[] text = Base64.getUrlDecoder().decode(part);
    try (JsonReader reader = Json.createReader(new ByteArrayInputStream(text))) {
      return reader.readObject();
    }
  }
}
