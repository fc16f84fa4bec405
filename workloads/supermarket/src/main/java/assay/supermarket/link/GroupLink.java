package assay.supermarket.link;

import assay.supermarket.message.Catalogue;
import assay.supermarket.message.Codec;
import assay.supermarket.message.CompanyKeys;
import assay.supermarket.message.Message;
import assay.supermarket.message.MessageTypes;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/**
 * All that connects the agents of a group, with each other and with those of other groups. Every
 * message is written, sent as bytes, and read, also within the group: that is the work that the
 * workload is for.
 */
public final class GroupLink implements Link, AutoCloseable {
  /** Where other groups post their messages. */
  public static final String PATH = HttpTransport.PATH;

  /** The body of such a post, and of its answer, is no longer. */
  public static final int BYTES_MAX = EnvelopeCodec.BYTES_MAX;

  private final Codec codec;
  private final Counters counters = new Counters();
  private final Receiver receiver;
  private final Sender sender;

  /**
   * A link that other groups reach by {@link #receive}, and that reaches them over HTTP.
   *
   * @param group this group's name
   * @param peers the other groups' names, each with {@code host:port}
   * @param post where messages and answers are opened and handed on
   */
  public GroupLink(String group, Map<String, String> peers, CompanyKeys keys, Executor post) {
    this(
        group,
        new SecureRandom().nextLong(),
        keys,
        post,
        new HttpTransport(peers, post),
        Patience.STANDARD);
  }

  GroupLink(
      String group,
      long life,
      CompanyKeys keys,
      Executor post,
      Transport toOthers,
      Patience patience) {
    List<Class<? extends Message>> types = new ArrayList<>(MessageTypes.ALL);
    types.add(Refusal.class);
    this.codec = new Codec(Catalogue.of(types), keys);
    EnvelopeCodec envelopes = new EnvelopeCodec(codec);
    this.receiver = new Receiver(group, envelopes, new Repetitions(counters), post);
    Transport transport =
        (to, envelope) ->
            to.equals(group) ? receiver.receive(envelope) : toOthers.exchange(to, envelope);
    this.sender = new Sender(group, life, envelopes, transport, patience, post, counters);
  }

  /** From now on messages reach this agent. */
  public void add(Agent agent) {
    receiver.add(agent);
  }

  @Override
  public <R extends Message> CompletionStage<R> send(AgentId to, Message message, Class<R> reply) {
    return sender.send(to, message, reply);
  }

  /**
   * What another group has posted to {@link #PATH}, and the answer. The stage fails for bytes that
   * are no message to this group: the front end answers 400, and the cause is the sender's to know.
   */
  public CompletionStage<byte[]> receive(byte[] envelope) {
    return receiver.receive(envelope);
  }

  /** What went to and came from each group, this one included. */
  public Map<String, LinkCounts> counts() {
    return counters.snapshot();
  }

  /** Messages of this group that wait for their answers. */
  public int waiting() {
    return sender.waiting();
  }

  @Override
  public void close() {
    sender.close();
    codec.close();
  }
}
