package assay.supermarket.link;

import assay.supermarket.message.Message;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/** Hands messages over as they are, within one process: for tests. */
public final class DirectLink implements Link {
  private final Map<AgentId, Agent> agents = new ConcurrentHashMap<>();

  public void add(Agent agent) {
    agents.put(agent.id(), agent);
  }

  @Override
  public <R extends Message> CompletionStage<R> send(AgentId to, Message message, Class<R> reply) {
    Agent agent = agents.get(to);
    if (agent == null) {
      return CompletableFuture.failedFuture(new IllegalArgumentException("no agent " + to));
    }
    return agent.receive(message).thenApply(reply::cast);
  }
}
