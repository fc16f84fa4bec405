package assay.supermarket.message;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * What stands behind a message without a seal: the CRC-32C (RFC 3720, B.4) of all before. Damage
 * that the network did not notice could otherwise change where a message goes or which it is. It
 * does not hold against intent; that is what the seal is for.
 */
final class Checksum {
  private static final int BYTES = Integer.BYTES;

  private Checksum() {}

  static byte[] append(byte[] header, byte[] payload) {
    int length = header.length + payload.length;
    byte[] all = Arrays.copyOf(header, length + BYTES);
    System.arraycopy(payload, 0, all, header.length, payload.length);
    ByteBuffer.wrap(all).putInt(length, of(all, length));
    return all;
  }

  /** The payload behind a header of so many bytes. */
  static byte[] check(byte[] all, int headerBytes) throws MessageException {
    int length = all.length - BYTES;
    if (length < headerBytes) {
      throw new MessageException("too short for a message");
    }
    if (ByteBuffer.wrap(all).getInt(length) != of(all, length)) {
      throw new MessageException("damaged: the checksum is not of these bytes");
    }
    return Arrays.copyOfRange(all, headerBytes, length);
  }

  private static int of(byte[] bytes, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, 0, length);
    return (int) crc.getValue();
  }
}
