package assay.supermarket.link;

import assay.supermarket.message.Message;
import assay.supermarket.message.MessageException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Function;

/** The group's door: takes envelopes, hands their messages to agents, gives back the answers. */
final class Receiver {
  private final String group;
  private final EnvelopeCodec codec;
  private final Repetitions repetitions;
  private final Executor post;
  private final Map<AgentId, Agent> agents = new ConcurrentHashMap<>();

  Receiver(String group, EnvelopeCodec codec, Repetitions repetitions, Executor post) {
    this.group = group;
    this.codec = codec;
    this.repetitions = repetitions;
    this.post = post;
  }

  void add(Agent agent) {
    if (!agent.id().group().equals(group)) {
      throw new IllegalArgumentException(agent.id() + " is not of group " + group);
    }
    if (agents.putIfAbsent(agent.id(), agent) != null) {
      throw new IllegalArgumentException("there is a " + agent.id() + " already");
    }
  }

  /**
   * The answer to an envelope; fails with {@link MessageException} where the bytes are none, and
   * with {@link LinkException} where it can have no effect any more.
   */
  CompletionStage<byte[]> receive(byte[] bytes) {
    EnvelopeCodec.Sent sent;
    try {
      sent = codec.open(bytes);
      if (sent.envelope().kind() != Envelope.Kind.MESSAGE) {
        throw new MessageException("an answer to nothing");
      }
      if (!sent.envelope().to().group().equals(group)) {
        throw new MessageException(sent.envelope().to() + " is not of group " + group);
      }
    } catch (MessageException e) {
      return CompletableFuture.failedFuture(e);
    }
    return CompletableFuture.supplyAsync(() -> accept(sent), post).thenCompose(Function.identity());
  }

  /** On a thread of the post. */
  private CompletionStage<byte[]> accept(EnvelopeCodec.Sent sent) {
    try {
      // First: what cannot be read leaves no trace there.
      Message message = codec.read(sent);
      return repetitions.once(sent.envelope(), () -> answer(sent.envelope(), message));
    } catch (MessageException | LinkException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private CompletionStage<byte[]> answer(Envelope envelope, Message message) {
    return ask(envelope.to(), message)
        .handle(
            (answer, failure) ->
                failure == null ? encode(envelope, answer) : refuse(envelope, failure));
  }

  private CompletionStage<? extends Message> ask(AgentId to, Message message) {
    Agent agent = agents.get(to);
    if (agent == null) {
      return CompletableFuture.completedFuture(new Refusal("there is no " + to));
    }
    try {
      return agent.receive(message);
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private byte[] encode(Envelope envelope, Message answer) {
    try {
      return encoded(envelope, answer);
    } catch (MessageException | RuntimeException e) {
      return refuse(envelope, e);
    }
  }

  private byte[] refuse(Envelope envelope, Throwable why) {
    try {
      return encoded(envelope, new Refusal(envelope.to() + ": " + why));
    } catch (MessageException e) {
      throw new IllegalStateException("a refusal that cannot be written", e);
    }
  }

  private byte[] encoded(Envelope envelope, Message answer) throws MessageException {
    var type = codec.typeOf(answer);
    return codec.encode(envelope.answered(group, type.name(), type.form().bits()), answer);
  }
}
