package assay.chat.wire;

/** The plain protocol: each message ends with a line feed. */
final class Lines implements Decoder {
  static final Lines DECODER = new Lines();

  private Lines() {}

  @Override
  public int decode(Session session, byte[] input, int from, int to) throws Broken {
    int limit = Math.min(to, from + LINE_BYTES_MAX);
    for (int at = from; at < limit; at++) {
      if (input[at] == '\n') {
        session.message(input, from, at);
        return at + 1;
      }
    }
    if (limit - from == LINE_BYTES_MAX) {
      throw Broken.tooLong("a line has at most " + LINE_BYTES_MAX + " bytes");
    }
    return from;
  }
}
