package assay.supermarket.link;

/**
 * What stands on a message for its way. One lane leads from a group to a group; it counts its
 * messages.
 *
 * @param kind whether it is a message or the answer to one
 * @param from the group that sends it
 * @param life of the sender: another number each time that its group is started
 * @param sequence counts the messages of a lane in a life; an answer has that of its message
 * @param floor all messages of the lane below this one are settled: they will not be repeated
 * @param type name of the type of message
 * @param form the bits of the type's {@link assay.supermarket.message.Form}
 */
record Envelope(
    Kind kind,
    String from,
    long life,
    long sequence,
    long floor,
    AgentId to,
    String type,
    int form) {

  enum Kind {
    MESSAGE(1),
    ANSWER(2);

    private final byte code;

    Kind(int code) {
      this.code = (byte) code;
    }

    /** How the kind stands in the bytes. */
    byte code() {
      return code;
    }
  }

  /** On the answer to this. */
  Envelope answered(String by, String type, int form) {
    AgentId back = new AgentId(from, to.role(), to.number());
    return new Envelope(Kind.ANSWER, by, life, sequence, floor, back, type, form);
  }

  /** Whether this is on the answer to that. */
  boolean answers(Envelope message) {
    return kind == Kind.ANSWER
        && message.kind == Kind.MESSAGE
        && life == message.life
        && sequence == message.sequence
        && from.equals(message.to.group())
        && to.group().equals(message.from);
  }
}
