package assay.supermarket.message;

/** Messages of one type to bytes and back. Used by several threads at a time. */
interface PayloadFormat {
  byte[] write(Message message) throws MessageException;

  /** Whatever the bytes are, nothing but {@link MessageException} is thrown. */
  Message read(byte[] bytes) throws MessageException;
}
