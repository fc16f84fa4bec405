package assay.brokerage.account;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * SHA-256 over user and password, in hexadecimal. It keeps plain passwords out of the table; it is
 * no slow hash, because the customers are invented and a login is to cost what a page costs.
 */
public final class PasswordHash {
  private PasswordHash() {}

  public static String of(String userId, String password) {
    try {
      MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
      byte[] text = (userId + "\n" + password).getBytes(StandardCharsets.UTF_8);
      return HexFormat.of().formatHex(sha256.digest(text));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
