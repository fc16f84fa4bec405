package assay.supermarket.message;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Set;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;

/** The keys of one company: one to encrypt with, one to sign with. All its groups have the same. */
public final class CompanyKeys {
  private static final int KEY_BYTES = 32;
  private static final Set<PosixFilePermission> OWNER_ONLY =
      PosixFilePermissions.fromString("rw-------");

  private final SecretKey encryption;
  private final SecretKey signing;

  private CompanyKeys(byte[] both) {
    this.encryption = new SecretKeySpec(both, 0, KEY_BYTES, "AES");
    this.signing = new SecretKeySpec(both, KEY_BYTES, KEY_BYTES, "HmacSHA256");
  }

  /** New keys that nobody else has: for a company in one JVM. */
  public static CompanyKeys fresh() {
    return new CompanyKeys(random());
  }

  /**
   * The keys in a file that several JVMs share. The first to come makes it; of several that come at
   * once, one.
   *
   * @throws IOException also if others than the owner may read or write the file
   */
  public static CompanyKeys sharedBy(Path file) throws IOException {
    Path whole = file.toAbsolutePath();
    if (!Files.exists(whole, LinkOption.NOFOLLOW_LINKS)) {
      make(whole);
    }
    if (!Files.getPosixFilePermissions(whole, LinkOption.NOFOLLOW_LINKS).equals(OWNER_ONLY)) {
      throw new IOException(file + " is not of mode 0600: what others could read is no key");
    }
    if (Files.size(whole) != 2L * 2 * KEY_BYTES) {
      throw new IOException(file + " is not a file of keys: remove it to have new ones made");
    }
    try {
      return new CompanyKeys(HexFormat.of().parseHex(Files.readString(whole)));
    } catch (IllegalArgumentException e) {
      throw new IOException(file + " is not a file of keys: remove it to have new ones made", e);
    }
  }

  /** Writes the file aside and links it in its place, so that nobody sees a half of it. */
  private static void make(Path file) throws IOException {
    Path aside =
        Files.createTempFile(
            file.getParent(), ".keys", "", PosixFilePermissions.asFileAttribute(OWNER_ONLY));
    try {
      Files.writeString(aside, HexFormat.of().formatHex(random()));
      Files.createLink(file, aside);
    } catch (FileAlreadyExistsException e) {
      // Another JVM of the company was quicker.
    } finally {
      Files.delete(aside);
    }
  }

  private static byte[] random() {
    byte[] both = new byte[2 * KEY_BYTES];
    new SecureRandom().nextBytes(both);
    return both;
  }

  SecretKey encryption() {
    return encryption;
  }

  SecretKey signing() {
    return signing;
  }

  /** Keys are compared by content; never printed. */
  @Override
  public boolean equals(Object other) {
    return other instanceof CompanyKeys keys
        && Arrays.equals(encryption.getEncoded(), keys.encryption.getEncoded())
        && Arrays.equals(signing.getEncoded(), keys.signing.getEncoded());
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(signing.getEncoded());
  }
}
