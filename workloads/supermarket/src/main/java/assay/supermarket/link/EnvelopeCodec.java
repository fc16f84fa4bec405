package assay.supermarket.link;

import assay.supermarket.message.Codec;
import assay.supermarket.message.Message;
import assay.supermarket.message.MessageException;
import assay.supermarket.message.MessageType;
import java.nio.BufferOverflowException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Envelopes to bytes and back. The header is in clear, so that a message finds its way before it is
 * read; a seal, where the type of message has one, covers the header, too. Numbers are big-endian:
 *
 * <pre>
 * 2  "SM"     1  version, 1     1  form     1  kind
 * 8  life    8  sequence       8  floor
 * from, to's group, to's role, type: each 1 byte of length, then ASCII
 * 4  to's number
 * </pre>
 */
final class EnvelopeCodec {
  /** No envelope with its message is longer. */
  static final int BYTES_MAX = Codec.PAYLOAD_BYTES_MAX + (Codec.PAYLOAD_BYTES_MAX >> 8) + 1024;

  private static final short MAGIC = 0x534d;
  private static final byte VERSION = 1;

  /** Four names of at most 64 characters, and the numbers. */
  private static final int HEADER_BYTES_MAX = 4 * 65 + 64;

  private static final int NAME_CHARS_MAX = 64;

  /** A message on its way, not yet read. */
  static final class Sent {
    private final Envelope envelope;
    private final byte[] bytes;

    /** Where the message begins in the bytes. */
    private final int headerBytes;

    private Sent(Envelope envelope, byte[] bytes, int headerBytes) {
      this.envelope = envelope;
      this.bytes = bytes;
      this.headerBytes = headerBytes;
    }

    Envelope envelope() {
      return envelope;
    }
  }

  private final Codec codec;

  EnvelopeCodec(Codec codec) {
    this.codec = codec;
  }

  MessageType typeOf(Message message) throws MessageException {
    return codec.catalogue().typeOf(message);
  }

  byte[] encode(Envelope envelope, Message message) throws MessageException {
    ByteBuffer out = ByteBuffer.allocate(HEADER_BYTES_MAX);
    try {
      out.putShort(MAGIC).put(VERSION).put((byte) envelope.form());
      out.put(envelope.kind().code());
      out.putLong(envelope.life()).putLong(envelope.sequence()).putLong(envelope.floor());
      putName(out, envelope.from());
      putName(out, envelope.to().group());
      putName(out, envelope.to().role());
      putName(out, envelope.type());
      out.putInt(envelope.to().number());
    } catch (BufferOverflowException e) {
      throw new MessageException("header of " + envelope.type(), e);
    }
    return codec.encode(Arrays.copyOf(out.array(), out.position()), message);
  }

  /** Reads the header only. */
  Sent open(byte[] bytes) throws MessageException {
    if (bytes.length > BYTES_MAX) {
      throw new MessageException("an envelope of " + bytes.length + " bytes: too long");
    }
    ByteBuffer in = ByteBuffer.wrap(bytes);
    try {
      if (in.getShort() != MAGIC || in.get() != VERSION) {
        throw new MessageException("not an envelope of this version");
      }
      int form = in.get();
      Envelope.Kind kind = kind(in.get());
      long life = in.getLong();
      long sequence = in.getLong();
      long floor = in.getLong();
      String from = name(in);
      String group = name(in);
      String role = name(in);
      String type = name(in);
      AgentId to = new AgentId(group, role, in.getInt());
      if (sequence < 1 || floor < 1 || floor > sequence) {
        throw new MessageException("message " + sequence + " of a lane settled to " + floor);
      }
      Envelope envelope = new Envelope(kind, from, life, sequence, floor, to, type, form);
      return new Sent(envelope, bytes, in.position());
    } catch (BufferUnderflowException | IllegalArgumentException e) {
      throw new MessageException("header of an envelope of " + bytes.length + " bytes", e);
    }
  }

  /** Reads the message behind the header. */
  Message read(Sent sent) throws MessageException {
    MessageType type = codec.catalogue().typeNamed(sent.envelope().type());
    // A type travels in its own form and no other: nobody can leave out the seal.
    if (type.form().bits() != sent.envelope().form()) {
      throw new MessageException(type.name() + " in form " + sent.envelope().form());
    }
    return codec.decode(type, sent.bytes, sent.headerBytes);
  }

  private static Envelope.Kind kind(byte code) throws MessageException {
    for (Envelope.Kind kind : Envelope.Kind.values()) {
      if (kind.code() == code) {
        return kind;
      }
    }
    throw new MessageException("an envelope of kind " + code);
  }

  private static void putName(ByteBuffer out, String name) throws MessageException {
    byte[] bytes = name.getBytes(StandardCharsets.US_ASCII);
    if (!isName(name)) {
      throw new MessageException("a group, role or type cannot be called '" + name + "'");
    }
    out.put((byte) bytes.length).put(bytes);
  }

  private static String name(ByteBuffer in) throws MessageException {
    int length = in.get();
    if (length < 1 || length > NAME_CHARS_MAX) {
      throw new MessageException("a name of " + length + " bytes in an envelope");
    }
    byte[] bytes = new byte[length];
    in.get(bytes);
    String name = new String(bytes, StandardCharsets.US_ASCII);
    if (!isName(name)) {
      throw new MessageException("a name in an envelope that is none");
    }
    return name;
  }

  private static boolean isName(String name) {
    return !name.isEmpty()
        && name.length() <= NAME_CHARS_MAX
        && name.chars().allMatch(c -> c > ' ' && c < 0x7f && c != '/');
  }
}
