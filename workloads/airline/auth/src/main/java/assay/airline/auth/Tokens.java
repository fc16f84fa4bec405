package assay.airline.auth;

import assay.airline.settings.Settings;
import assay.airline.token.Groups;
import assay.airline.token.KeyFolder;
import assay.airline.token.TokenSigner;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Instant;

/** Gives tokens to customers whose password is right, and to services who know the secret. */
@Singleton
public class Tokens {
  private final TokenSigner signer;
  private final byte[] secret;

  @Inject
  public Tokens(Settings settings) throws IOException {
    this(
        new TokenSigner(new KeyFolder(Path.of(settings.text("AIRLINE_KEYS"))).privateKey()),
        settings.text("AIRLINE_SECRET"));
  }

  Tokens(TokenSigner signer, String secret) {
    this.signer = signer;
    this.secret = secret.getBytes(StandardCharsets.UTF_8);
  }

  String ofCustomer(String customer) {
    return signer.sign(customer, Groups.CUSTOMER, Instant.now());
  }

  String ofService() {
    return signer.sign("service", Groups.SERVICE, Instant.now());
  }

  boolean isSecret(String word) {
    return MessageDigest.isEqual(secret, word.getBytes(StandardCharsets.UTF_8));
  }
}
