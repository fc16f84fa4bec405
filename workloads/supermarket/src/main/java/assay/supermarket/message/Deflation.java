package assay.supermarket.message;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/**
 * Compression (RFC 1950): four bytes that say how long the text is, then the compressed text. What
 * would become longer than it says, or than any message may be, is refused before it takes memory.
 */
final class Deflation implements AutoCloseable {
  private static final int PREFIX_BYTES = Integer.BYTES;

  private final int bytesMax;

  /** Each holds some 256 KiB outside of the heap; making one takes longer than a short message. */
  private final ArrayBlockingQueue<Deflater> deflaters;

  private final ArrayBlockingQueue<Inflater> inflaters;

  Deflation(int bytesMax) {
    this.bytesMax = bytesMax;
    int idleMax = 2 * Runtime.getRuntime().availableProcessors();
    this.deflaters = new ArrayBlockingQueue<>(idleMax);
    this.inflaters = new ArrayBlockingQueue<>(idleMax);
  }

  byte[] deflate(byte[] plain) {
    Deflater deflater = deflaters.poll();
    if (deflater == null) {
      deflater = new Deflater(Deflater.BEST_SPEED);
    }
    deflater.setInput(plain);
    deflater.finish();
    // Never longer than this: RFC 1951's stored blocks, with zlib's margin (compressBound).
    byte[] out = new byte[PREFIX_BYTES + plain.length + (plain.length >> 10) + 64];
    ByteBuffer.wrap(out).putInt(plain.length);
    int length = PREFIX_BYTES;
    while (!deflater.finished()) {
      if (length == out.length) {
        out = Arrays.copyOf(out, 2 * out.length);
      }
      length += deflater.deflate(out, length, out.length - length);
    }
    deflater.reset();
    if (!deflaters.offer(deflater)) {
      deflater.end();
    }
    return Arrays.copyOf(out, length);
  }

  byte[] inflate(byte[] packed) throws MessageException {
    if (packed.length < PREFIX_BYTES) {
      throw new MessageException("compressed text of " + packed.length + " bytes");
    }
    int length = ByteBuffer.wrap(packed).getInt();
    // Deflate packs at most 1032 to 1, so a short text that promises much lies.
    if (length < 0 || length > bytesMax || length > 1032L * packed.length) {
      throw new MessageException(packed.length + " compressed bytes that promise " + length);
    }
    Inflater inflater = inflaters.poll();
    if (inflater == null) {
      inflater = new Inflater();
    }
    try {
      byte[] plain = new byte[length];
      inflater.setInput(packed, PREFIX_BYTES, packed.length - PREFIX_BYTES);
      int got = 0;
      for (int step = 1; step > 0 && got < length; got += step) {
        step = inflater.inflate(plain, got, length - got);
      }
      // One byte more, to see the end, and that nothing follows it.
      boolean ended = inflater.inflate(new byte[1]) == 0 && inflater.finished();
      if (got != length || !ended || inflater.getRemaining() != 0) {
        throw new MessageException("compressed text is not of the " + length + " bytes promised");
      }
      return plain;
    } catch (DataFormatException e) {
      throw new MessageException("compressed text", e);
    } finally {
      inflater.reset();
      if (!inflaters.offer(inflater)) {
        inflater.end();
      }
    }
  }

  @Override
  public void close() {
    deflaters.forEach(Deflater::end);
    deflaters.clear();
    inflaters.forEach(Inflater::end);
    inflaters.clear();
  }
}
