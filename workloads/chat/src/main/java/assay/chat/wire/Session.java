package assay.chat.wire;

import assay.chat.room.Chat;
import assay.chat.room.Client;
import assay.chat.room.End;
import assay.chat.room.Message;
import assay.chat.room.Reached;
import assay.chat.room.Refused;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;

/** What one connection speaks: its bytes in, messages of PROTOCOL.md done. For one thread. */
public final class Session {
  public static final String VERSION = "1";

  private static final String NUMBERS = "the sequence number is decimal, without leading zeros";
  private static final int NAME_CHARACTERS_MAX = 32;
  private static final int TEXT_BYTES_MAX = 896;
  private static final byte[] SAY = "say ".getBytes(StandardCharsets.US_ASCII);

  /** Of Long.MAX_VALUE. */
  private static final int DIGITS_MAX = 19;

  private static final byte[] NOTHING = {};

  private final Client client;
  private final Operations operations;
  private Decoder decoder = Opening.DECODER;
  private byte[] rest = NOTHING;
  private boolean helloDone;
  private long nextSequence = 1;

  /** Of the input at hand. */
  private Reached reached;

  public Session(Client client, Operations operations) {
    this.client = client;
    this.operations = operations;
  }

  /**
   * Does what the bytes say. What waits for others then is to be flushed by the caller.
   *
   * @param input the session's until this returns; it may change it
   */
  public void receive(byte[] input, int length, Reached into) {
    byte[] bytes = input;
    int from = 0;
    int to = length;
    if (rest.length > 0) {
      bytes = Arrays.copyOf(rest, rest.length + length);
      System.arraycopy(input, 0, bytes, rest.length, length);
      to = bytes.length;
      rest = NOTHING;
    }
    reached = into;
    try {
      from = decodeAll(bytes, from, to);
    } catch (Broken broken) {
      fail(broken);
    }
    reached = null;
    if (from < to && !client.outbox().isEnding()) {
      rest = Arrays.copyOfRange(bytes, from, to);
    }
  }

  private int decodeAll(byte[] bytes, int start, int to) throws Broken {
    int from = start;
    while (from < to && !client.outbox().isEnding()) {
      Decoder before = decoder;
      int next = decoder.decode(this, bytes, from, to);
      if (next == from && decoder == before) {
        break;
      }
      from = next;
    }
    return from;
  }

  void speak(Decoder spoken) {
    decoder = spoken;
  }

  /** A request of HTTP. */
  void request(String method, String path, Map<String, String> fields) {
    Message handshake =
        method.equals("GET") && path.equals("/chat") ? WebSocket.handshake(fields) : null;
    if (handshake == null) {
      decoder = (session, input, from, to) -> to;
      operations.answer(client, method, path, reached);
      return;
    }
    client.outbox().useWebSocket();
    decoder = new WebSocket();
    reached.offer(client, handshake);
  }

  void answer(Message message) {
    reached.offer(client, message);
  }

  void closedByClient(Message close) {
    chat().finish(client, End.CLOSED, reached, close);
  }

  private void fail(Broken broken) {
    finish(End.ERROR, "error " + broken.reason() + " " + broken.getMessage(), broken.closeStatus());
  }

  private void finish(End reason, String text, int closeStatus) {
    finish(reason, text, closeStatus, reached);
  }

  private void finish(End reason, String text, int closeStatus, Reached into) {
    Message message = Message.text(text);
    if (client.outbox().isWebSocket()) {
      chat().finish(client, reason, into, message, WebSocket.close(closeStatus));
    } else {
      chat().finish(client, reason, into, message);
    }
  }

  /** Says that the server ends. From any thread. */
  public void shutDown(Reached into) {
    finish(End.SHUTDOWN, "error shutdown the server ends", WebSocket.GOING_AWAY, into);
  }

  private Chat chat() {
    return client.chat();
  }

  /** One message, without the end of its line. */
  void message(byte[] input, int from, int to) throws Broken {
    try {
      if (helloDone && startsWithSay(input, from, to)) {
        say(input, from + SAY.length, to);
      } else {
        command(words(input, from, to));
      }
    } catch (Refused refused) {
      answer(Message.text("refused " + refused.reason() + " " + refused.getMessage()));
    }
  }

  private static boolean startsWithSay(byte[] input, int from, int to) {
    return Arrays.equals(input, from, Math.min(to, from + SAY.length), SAY, 0, SAY.length);
  }

  /** What stands between single spaces, and before and behind them; a word may be empty. */
  private static String[] words(byte[] input, int from, int to) {
    int count = 1;
    for (int i = from; i < to; i++) {
      count += input[i] == ' ' ? 1 : 0;
    }
    String[] words = new String[count];
    int start = from;
    for (int word = 0; word < count; word++) {
      int end = start;
      while (end < to && input[end] != ' ') {
        end++;
      }
      words[word] = new String(input, start, end - start, StandardCharsets.ISO_8859_1);
      start = end + 1;
    }
    return words;
  }

  private void command(String[] words) throws Broken, Refused {
    if (!helloDone) {
      hello(words);
      return;
    }
    switch (words[0] + " " + (words.length - 1)) {
      case "join 1" -> {
        int members = chat().join(client, name(words[1]));
        answer(Message.text("joined " + words[1] + " " + members));
      }
      case "leave 0" -> answer(Message.text("left " + chat().leave(client)));
      case "count 0" -> chat().count(client, reached);
      case "bye 0" -> finish(End.BYE, "bye", WebSocket.NORMAL);
      default -> throw Broken.syntax("join ROOM, say SEQ TEXT, leave, count or bye");
    }
  }

  private void hello(String[] words) throws Broken {
    if (words.length < 2 || !words[0].equals("hello")) {
      throw Broken.syntax("the first message is hello 1 NAME");
    }
    if (!words[1].equals(VERSION)) {
      throw new Broken("version", "this server speaks version " + VERSION);
    }
    if (words.length != 3) {
      throw Broken.syntax("hello 1 NAME");
    }
    if (!chat().hello(client, name(words[2]))) {
      throw new Broken("name-taken", "a connected user has the name " + words[2]);
    }
    helloDone = true;
    answer(operations.welcome());
  }

  private static String name(String word) throws Broken {
    boolean fits = !word.isEmpty() && word.length() <= NAME_CHARACTERS_MAX;
    for (int i = 0; fits && i < word.length(); i++) {
      fits = isOfName(word.charAt(i));
    }
    if (!fits) {
      throw Broken.syntax("a name is 1 to 32 characters of A-Z a-z 0-9 . _ -");
    }
    return word;
  }

  private static boolean isOfName(char c) {
    return (c >= 'A' && c <= 'Z')
        || (c >= 'a' && c <= 'z')
        || (c >= '0' && c <= '9')
        || c == '.'
        || c == '_'
        || c == '-';
  }

  /** {@code SEQ TEXT}. */
  private void say(byte[] input, int from, int to) throws Broken, Refused {
    int space = from;
    while (space < to && input[space] != ' ') {
      space++;
    }
    if (space == to) {
      throw Broken.syntax("say SEQ TEXT");
    }
    long sequence = number(input, from, space);
    if (sequence != nextSequence) {
      throw new Broken("sequence", "the next sequence number is " + nextSequence);
    }
    checkText(input, space + 1, to);
    nextSequence++;
    chat().say(client, input, from, to, reached);
  }

  private static long number(byte[] input, int from, int to) throws Broken {
    if (from == to || to - from > DIGITS_MAX || input[from] == '0') {
      throw Broken.syntax(NUMBERS);
    }
    long number = 0;
    for (int i = from; i < to; i++) {
      int digit = input[i] - '0';
      if (digit < 0 || digit > 9 || number > (Long.MAX_VALUE - digit) / 10) {
        throw Broken.syntax(NUMBERS);
      }
      number = 10 * number + digit;
    }
    return number;
  }

  private static void checkText(byte[] input, int from, int to) throws Broken {
    if (from == to) {
      throw Broken.syntax("a text is not empty");
    }
    if (to - from > TEXT_BYTES_MAX) {
      throw Broken.tooLong("a text has at most " + TEXT_BYTES_MAX + " bytes");
    }
    boolean ascii = true;
    for (int i = from; i < to; i++) {
      byte b = input[i];
      if ((b >= 0 && b < ' ') || b == 0x7F) {
        throw Broken.syntax("a text holds no control characters");
      }
      ascii &= b >= 0;
    }
    if (!ascii) {
      try {
        StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(input, from, to - from));
      } catch (CharacterCodingException e) {
        throw Broken.syntax("a text is UTF-8");
      }
    }
  }
}
