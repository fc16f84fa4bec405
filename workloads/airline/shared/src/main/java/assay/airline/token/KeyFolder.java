package assay.airline.token;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Set;

/**
 * The key pair of all tokens, in a private folder: {@code private.pem} for the service that signs,
 * {@code public.pem} for those that verify (server.xml). Whoever signs first makes it; a later
 * start takes it, so that tokens outlive a restart.
 */
public record KeyFolder(Path folder) {
  private static final int KEY_BITS = 2_048;
  private static final String PRIVATE = "private.pem";
  private static final String PUBLIC = "public.pem";
  private static final FileAttribute<Set<PosixFilePermission>> OURS_ALONE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  /** The key that signs; with its partner it is made where there is none. */
  public PrivateKey privateKey() throws IOException {
    if (Files.notExists(folder.resolve(PRIVATE))) {
      make();
    }
    try {
      return KeyFactory.getInstance("RSA").generatePrivate(new PKCS8EncodedKeySpec(read(PRIVATE)));
    } catch (GeneralSecurityException | IllegalArgumentException e) {
      throw new IOException(folder.resolve(PRIVATE) + " holds no RSA key", e);
    }
  }

  private byte[] read(String file) throws IOException {
    String pem = Files.readString(folder.resolve(file));
    String base64 = pem.replaceAll("-----[A-Z ]+-----", "").replaceAll("\\s", "");
    return Base64.getDecoder().decode(base64);
  }

  /** Both files appear together: a killed start leaves a whole pair or none. */
  private void make() throws IOException {
    Path parent = folder.toAbsolutePath().getParent();
    Files.createDirectories(parent);
    Path made = Files.createTempDirectory(parent, "keys", OURS_ALONE);
    KeyPair pair = generate();
    Files.writeString(made.resolve(PUBLIC), pem("PUBLIC KEY", pair.getPublic()));
    Files.writeString(made.resolve(PRIVATE), pem("PRIVATE KEY", pair.getPrivate()));
    try {
      Files.move(made, folder);
    } catch (FileAlreadyExistsException e) {
      // Another instance was quicker: its pair is the pair.
      Files.delete(made.resolve(PUBLIC));
      Files.delete(made.resolve(PRIVATE));
      Files.delete(made);
    }
  }

  private static KeyPair generate() {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
      generator.initialize(KEY_BITS);
      return generator.generateKeyPair();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has RSA", e);
    }
  }

  private static String pem(String what, Key key) {
    String lines = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(key.getEncoded());
    return "-----BEGIN " + what + "-----\n" + lines + "\n-----END " + what + "-----\n";
  }
}
