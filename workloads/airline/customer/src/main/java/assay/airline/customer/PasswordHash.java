package assay.airline.customer;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * SHA-256 over customer and password, in hexadecimal. It keeps plain passwords out of the store; it
 * is no slow hash, because the customers are invented and a login is to cost what its token costs.
 */
final class PasswordHash {
  private PasswordHash() {}

  static String of(String customer, String password) {
    try {
      MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
      byte[] text = (customer + "\n" + password).getBytes(StandardCharsets.UTF_8);
      return HexFormat.of().formatHex(sha256.digest(text));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
