package assay.airline.token;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.json.Json;
import jakarta.json.JsonObject;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TokenSignerTest {
  @TempDir Path scratch;

  @Test
  void aTokenIsVerifiedByThePublicKeyAndSaysWhoAsks() throws Exception {
    KeyFolder keys = new KeyFolder(scratch.resolve("keys"));
    Instant now = Instant.ofEpochSecond(1_900_000_000);
    String token = new TokenSigner(keys.privateKey()).sign("c\"7", Groups.CUSTOMER, now);
    List<String> parts = List.of(token.split("\\.", -1));
    assertThat(verifies(parts, publicKey(keys))).isTrue();
    JsonObject claims = json(parts.get(1));
    assertThat(claims.getString("sub")).isEqualTo("c\"7");
    assertThat(claims.getString("upn")).isEqualTo("c\"7");
    assertThat(claims.getString("iss")).isEqualTo(TokenSigner.ISSUER);
    assertThat(claims.getJsonArray("groups").getString(0)).isEqualTo("customer");
    assertThat(claims.getJsonNumber("exp").longValue()).isEqualTo(1_900_003_600L);
    assertThat(json(parts.get(0)).getString("alg")).isEqualTo("RS256");
  }

  @Test
  void aTokenOfAnotherKeyIsNotVerified() throws Exception {
    KeyFolder keys = new KeyFolder(scratch.resolve("keys"));
    assertThat(keys.privateKey()).isNotNull();
    KeyFolder others = new KeyFolder(scratch.resolve("others"));
    String token = new TokenSigner(others.privateKey()).sign("c7", Groups.SERVICE, Instant.EPOCH);
    assertThat(verifies(List.of(token.split("\\.", -1)), publicKey(keys))).isFalse();
  }

  @Test
  void aSecondStartTakesTheSameKeysWhichNobodyElseCanRead() throws Exception {
    KeyFolder keys = new KeyFolder(scratch.resolve("keys"));
    assertThat(keys.privateKey()).isEqualTo(new KeyFolder(keys.folder()).privateKey());
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(keys.folder())))
        .isEqualTo("rwx------");
  }

  private static boolean verifies(List<String> parts, PublicKey key)
      throws GeneralSecurityException {
    Signature signature = Signature.getInstance("SHA256withRSA");
    signature.initVerify(key);
    signature.update((parts.get(0) + "." + parts.get(1)).getBytes(StandardCharsets.US_ASCII));
    return signature.verify(Base64.getUrlDecoder().decode(parts.get(2)));
  }

  private static PublicKey publicKey(KeyFolder keys) throws IOException, GeneralSecurityException {
    String pem = Files.readString(keys.folder().resolve("public.pem"));
    assertThat(pem).startsWith("-----BEGIN PUBLIC KEY-----\n");
    byte[] der = Base64.getMimeDecoder().decode(pem.replaceAll("-----[A-Z ]+-----", ""));
    return KeyFactory.getInstance("RSA").generatePublic(new X509EncodedKeySpec(der));
  }

  private static JsonObject json(String part) {
    byte[] text = Base64.getUrlDecoder().decode(part);
    try (var reader = Json.createReader(new ByteArrayInputStream(text))) {
      return reader.readObject();
    }
  }
}
