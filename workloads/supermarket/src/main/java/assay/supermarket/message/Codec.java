package assay.supermarket.message;

/**
 * Messages to bytes and back, in the form that their type has: written as XML or CBOR, compressed,
 * then sealed. The bytes follow a header that the seal covers, too. What is not sealed has a
 * checksum.
 */
public final class Codec implements AutoCloseable {
  /** No payload is longer, before or after it is compressed. */
  public static final int PAYLOAD_BYTES_MAX = 1 << 20;

  private final Catalogue catalogue;
  private final Seal seal;
  private final Deflation deflation = new Deflation(PAYLOAD_BYTES_MAX);

  public Codec(Catalogue catalogue, CompanyKeys keys) {
    this.catalogue = catalogue;
    this.seal = new Seal(keys);
  }

  public Catalogue catalogue() {
    return catalogue;
  }

  /** The header and behind it the message. */
  public byte[] encode(byte[] header, Message message) throws MessageException {
    MessageType type = catalogue.typeOf(message);
    type.shape().requireWhole(message);
    byte[] payload = type.format().write(message);
    if (payload.length > PAYLOAD_BYTES_MAX) {
      throw new MessageException(type.name() + " is of " + payload.length + " bytes: too long");
    }
    if (type.form().compressed()) {
      payload = deflation.deflate(payload);
    }
    return type.form().secure() ? seal.seal(header, payload) : Checksum.append(header, payload);
  }

  /**
   * The message behind a header of so many bytes.
   *
   * @throws MessageException on anything that {@link #encode} did not make for this type of message
   */
  public Message decode(MessageType type, byte[] bytes, int headerBytes) throws MessageException {
    if (bytes.length - headerBytes > PAYLOAD_BYTES_MAX + (PAYLOAD_BYTES_MAX >> 8)) {
      throw new MessageException(type.name() + " is of " + bytes.length + " bytes: too long");
    }
    try {
      byte[] payload =
          type.form().secure() ? seal.open(bytes, headerBytes) : Checksum.check(bytes, headerBytes);
      if (type.form().compressed()) {
        payload = deflation.inflate(payload);
      }
      Message message = type.format().read(payload);
      type.shape().requireWhole(message);
      return message;
    } catch (MessageException e) {
      throw e.getMessage().startsWith(type.name()) ? e : new MessageException(type.name(), e);
    }
  }

  @Override
  public void close() {
    deflation.close();
  }
}
