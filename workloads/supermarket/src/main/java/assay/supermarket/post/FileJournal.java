package assay.supermarket.post;

import assay.supermarket.link.AgentId;
import assay.supermarket.message.Catalogue;
import assay.supermarket.message.Codec;
import assay.supermarket.message.CompanyKeys;
import assay.supermarket.message.Message;
import assay.supermarket.message.MessageException;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.zip.CRC32C;

/**
 * A journal in an append-only file. What was appended survives the end of the process, also by
 * {@code kill -9}; it is not forced to the disk, so a power failure may lose some. Each entry is
 * its length, its CRC-32C, the agent, the type and the entry in the binary form.
 */
public final class FileJournal implements Journal {
  private static final AgentId HEAD = new AgentId("journal", "head", 0);
  private static final int FRAME_HEAD_BYTES = 2 * Integer.BYTES;
  private static final int FRAME_BYTES_MAX = Codec.PAYLOAD_BYTES_MAX + 4_096;

  private final Path path;
  private final String settings;
  private final Codec codec;
  private final FileChannel file;
  private final ReentrantLock lock = new ReentrantLock();
  private boolean broken = true; // until it is replayed

  private FileJournal(Path path, String settings, FileChannel file, Codec codec) {
    this.path = path;
    this.settings = settings;
    this.file = file;
    this.codec = codec;
  }

  /** Another process writes to the journal, or it is not one, or not for these settings. */
  public static final class Unusable extends IOException {
    private static final long serialVersionUID = 1;

    Unusable(String message) {
      super(message);
    }
  }

  /**
   * Opens a journal, or begins one; {@link #replay} comes next.
   *
   * @param types of all entries
   * @param settings what the entries are relative to; a journal with others is refused
   */
  public static FileJournal open(
      Path path, Collection<Class<? extends Message>> types, String settings) throws IOException {
    // Nothing is sealed, so that the keys do not matter.
    List<Class<? extends Message>> all = new ArrayList<>(types);
    all.add(JournalHead.class);
    Codec codec = new Codec(Catalogue.plain(all), CompanyKeys.fresh());
    Files.createDirectories(path.toAbsolutePath().getParent());
    FileChannel file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    try {
      FileLock only = file.tryLock();
      if (only == null) {
        throw new Unusable(path + " is in use by another process");
      }
      return new FileJournal(path, settings, file, codec);
    } catch (IOException | RuntimeException e) {
      file.close();
      codec.close();
      throw e;
    }
  }

  /**
   * Hands every entry on, in order, and drops half an entry at the end, which a killed process
   * leaves. From then on there can be appended.
   */
  public void replay(BiConsumer<AgentId, Message> to) throws IOException {
    long whole = read(to);
    file.truncate(whole);
    file.position(whole);
    lock.lock();
    try {
      broken = false;
    } finally {
      lock.unlock();
    }
    if (whole == 0) {
      append(HEAD, new JournalHead(settings));
    }
  }

  /** Returns the length of what is whole. */
  private long read(BiConsumer<AgentId, Message> to) throws IOException {
    long whole = 0;
    try (InputStream raw = new BufferedInputStream(Files.newInputStream(path));
        DataInputStream in = new DataInputStream(raw)) {
      while (true) {
        byte[] frame = frame(in, whole);
        if (frame.length == 0) {
          return whole;
        }
        take(frame, whole, to);
        whole += FRAME_HEAD_BYTES + frame.length;
      }
    }
  }

  /** The next frame, or an empty one at the end, be it a clean one or not. */
  private byte[] frame(DataInputStream in, long at) throws IOException {
    byte[] frame;
    int crc;
    try {
      int length = in.readInt();
      crc = in.readInt();
      if (length < 1 || length > FRAME_BYTES_MAX) {
        throw new Unusable(
            path + " is damaged at byte " + at + ": an entry of " + length + " bytes");
      }
      frame = new byte[length];
      in.readFully(frame);
    } catch (EOFException e) {
      return new byte[0];
    }
    if (crc != crc(frame)) {
      throw new Unusable(path + " is damaged at byte " + at + ": its checksum is wrong");
    }
    return frame;
  }

  private void take(byte[] frame, long at, BiConsumer<AgentId, Message> to) throws IOException {
    AgentId agent;
    Message entry;
    try {
      ByteBuffer bytes = ByteBuffer.wrap(frame);
      agent = AgentId.parse(text(bytes));
      String type = text(bytes);
      entry = codec.decode(codec.catalogue().typeNamed(type), frame, bytes.position());
    } catch (MessageException | RuntimeException e) {
      throw new IOException(path + " has an entry at byte " + at + " that cannot be read", e);
    }
    if ((at == 0) != agent.equals(HEAD)) {
      throw new Unusable(path + " does not begin as a journal");
    }
    if (entry instanceof JournalHead head) {
      if (!head.settings().equals(settings)) {
        throw new Unusable(
            path + " is of a server with other settings: " + head.settings() + ", not " + settings);
      }
    } else {
      to.accept(agent, entry);
    }
  }

  private static String text(ByteBuffer bytes) {
    byte[] text = new byte[Short.toUnsignedInt(bytes.getShort())];
    bytes.get(text);
    return new String(text, StandardCharsets.UTF_8);
  }

  @Override
  public void append(AgentId agent, Message entry) {
    ByteBuffer frame = frame(agent, entry);
    lock.lock();
    try {
      if (broken) {
        throw new IllegalStateException(
            "the journal is not open: it was not read, or could not be written");
      }
      // Until all is written: half an entry with another behind it would be damage.
      broken = true;
      while (frame.hasRemaining()) {
        file.write(frame);
      }
      broken = false;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      lock.unlock();
    }
  }

  private ByteBuffer frame(AgentId agent, Message entry) {
    try {
      ByteArrayOutputStream head = new ByteArrayOutputStream();
      DataOutputStream out = new DataOutputStream(head);
      out.writeUTF(agent.toString());
      out.writeUTF(codec.catalogue().typeOf(entry).name());
      byte[] bytes = codec.encode(head.toByteArray(), entry);
      ByteBuffer frame = ByteBuffer.allocate(FRAME_HEAD_BYTES + bytes.length);
      return frame.putInt(bytes.length).putInt(crc(bytes)).put(bytes).flip();
    } catch (IOException | MessageException e) {
      throw new IllegalArgumentException("no entry of a journal: " + entry, e);
    }
  }

  private static int crc(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    return (int) crc.getValue();
  }

  /** Nothing can be appended any more. */
  @Override
  public void close() throws IOException {
    lock.lock();
    try {
      broken = true;
      file.close();
    } finally {
      lock.unlock();
    }
    codec.close();
  }
}
