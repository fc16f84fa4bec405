package assay.supermarket.message;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;

/**
 * Makes a payload secure: AES-256 in Galois/Counter mode (NIST SP 800-38D), bound to the header
 * that goes before it in clear, then an HMAC-SHA256 (RFC 2104) over all. The nonce is random: of
 * 2^32 messages under one key the chance that two have the same is below 2^-32.
 */
final class Seal {
  private static final int NONCE_BYTES = 12;
  private static final int TAG_BYTES = 16;
  private static final int SIGNATURE_BYTES = 32;

  /** What a secure payload is longer than the plain one. */
  static final int OVERHEAD_BYTES = NONCE_BYTES + TAG_BYTES + SIGNATURE_BYTES;

  private final CompanyKeys keys;
  private final SecureRandom random = new SecureRandom();

  Seal(CompanyKeys keys) {
    this.keys = keys;
  }

  /** Header, nonce, encrypted payload with its tag, signature of all before. */
  byte[] seal(byte[] header, byte[] plain) {
    byte[] nonce = new byte[NONCE_BYTES];
    random.nextBytes(nonce);
    byte[] sealed = new byte[header.length + OVERHEAD_BYTES + plain.length];
    System.arraycopy(header, 0, sealed, 0, header.length);
    System.arraycopy(nonce, 0, sealed, header.length, NONCE_BYTES);
    try {
      Cipher cipher = cipher(Cipher.ENCRYPT_MODE, nonce);
      cipher.updateAAD(header);
      cipher.doFinal(plain, 0, plain.length, sealed, header.length + NONCE_BYTES);
      int signed = sealed.length - SIGNATURE_BYTES;
      System.arraycopy(signature(sealed, signed), 0, sealed, signed, SIGNATURE_BYTES);
      return sealed;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("the JDK lacks what every JDK must have", e);
    }
  }

  /** The plain payload behind a header of so many bytes. */
  byte[] open(byte[] sealed, int headerBytes) throws MessageException {
    int signed = sealed.length - SIGNATURE_BYTES;
    int encrypted = headerBytes + NONCE_BYTES;
    if (sealed.length < headerBytes + OVERHEAD_BYTES) {
      throw new MessageException("too short for a secure message");
    }
    try {
      ByteBuffer given = ByteBuffer.wrap(sealed, signed, SIGNATURE_BYTES);
      byte[] signature = new byte[SIGNATURE_BYTES];
      given.get(signature);
      // Compares in a time that does not depend on where they differ.
      if (!MessageDigest.isEqual(signature(sealed, signed), signature)) {
        throw new MessageException("the signature is not of these bytes and this company");
      }
      Cipher cipher =
          cipher(Cipher.DECRYPT_MODE, Arrays.copyOfRange(sealed, headerBytes, encrypted));
      cipher.updateAAD(sealed, 0, headerBytes);
      return cipher.doFinal(sealed, encrypted, signed - encrypted);
    } catch (GeneralSecurityException e) {
      throw new MessageException("encrypted text", e);
    }
  }

  private Cipher cipher(int mode, byte[] nonce) throws GeneralSecurityException {
    Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
    cipher.init(mode, keys.encryption(), new GCMParameterSpec(8 * TAG_BYTES, nonce));
    return cipher;
  }

  private byte[] signature(byte[] bytes, int length) throws GeneralSecurityException {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(keys.signing());
    mac.update(bytes, 0, length);
    return mac.doFinal();
  }
}
