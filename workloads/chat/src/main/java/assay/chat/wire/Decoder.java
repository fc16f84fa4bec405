package assay.chat.wire;

/** How the bytes of a connection become messages. */
interface Decoder {
  /** A line with its end. */
  int LINE_BYTES_MAX = 1_024;

  /**
   * Does what the first message in the input says.
   *
   * @param input not changed, except between from and to
   * @return where the next message begins; from, when the message is not whole yet
   */
  int decode(Session session, byte[] input, int from, int to) throws Broken;
}
