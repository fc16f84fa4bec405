package assay.supermarket.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import assay.supermarket.message.Acknowledgement;
import assay.supermarket.message.CompanyKeys;
import assay.supermarket.message.Delivery;
import assay.supermarket.message.Message;
import assay.supermarket.message.Numbered;
import assay.supermarket.message.OrderLine;
import assay.supermarket.message.PlaceOrder;
import assay.supermarket.message.PriceUpdate;
import assay.supermarket.tier.Tiers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(900)
class GroupLinkTest {
  /** Its end only guards against a hang: no test is to see it, however busy the machine is. */
  private static final Patience PATIENCE =
      new Patience(Duration.ofMillis(2), Duration.ofMillis(20), Duration.ofMinutes(10));

  private static final CompanyKeys KEYS = CompanyKeys.fresh();

  /** Counts how often each numbered message takes effect. */
  private static final class Counting implements Agent {
    private final AgentId id;
    final Map<Long, Integer> effects = new ConcurrentHashMap<>();

    Counting(String group) {
      this.id = new AgentId(group, "supermarket", 0);
    }

    @Override
    public AgentId id() {
      return id;
    }

    @Override
    public CompletionStage<? extends Message> receive(Message message) {
      long sequence = ((Numbered) message).sequence();
      effects.merge(sequence, 1, Integer::sum);
      // The answer takes a while, so that repetitions come before it.
      return CompletableFuture.supplyAsync(
          () -> new Acknowledgement(sequence),
          CompletableFuture.delayedExecutor(sequence % 5, TimeUnit.MILLISECONDS));
    }
  }

  private final Tiers tiers = Tiers.from(Map.of());
  private final LossyTransport network = new LossyTransport(1);
  private final List<GroupLink> links = new ArrayList<>();

  @AfterEach
  void close() {
    links.forEach(GroupLink::close);
    tiers.close();
  }

  private GroupLink link(String group, long life, Transport toOthers, Patience patience) {
    GroupLink link = new GroupLink(group, life, KEYS, tiers.post(), toOthers, patience);
    links.add(link);
    return link;
  }

  /** In each form: sealed XML, compressed XML, compressed binary. */
  private static Message numbered(long sequence) {
    return switch ((int) (sequence % 3)) {
      case 0 -> new PlaceOrder("s", sequence, List.of(new OrderLine(1, 2)));
      case 1 -> new Delivery("s", sequence, 1, List.of());
      default -> new PriceUpdate("s", sequence, List.of());
    };
  }

  @Test
  void overALossyNetworkEachMessageTakesEffectOnce() {
    List<String> groups = List.of("a", "b", "c");
    Map<String, Counting> agents = new TreeMap<>();
    Map<String, GroupLink> byGroup = new TreeMap<>();
    for (String group : groups) {
      GroupLink link = link(group, 1, network, PATIENCE);
      Counting agent = new Counting(group);
      link.add(agent);
      network.connect(group, link::receive);
      agents.put(group, agent);
      byGroup.put(group, link);
    }
    int each = 400;
    List<CompletableFuture<Acknowledgement>> answers = new ArrayList<>();
    long sequence = 0;
    for (int i = 0; i < each; i++) {
      for (String from : groups) {
        for (String to : groups) {
          AgentId address = agents.get(to).id();
          answers.add(
              byGroup
                  .get(from)
                  .send(address, numbered(++sequence), Acknowledgement.class)
                  .toCompletableFuture());
        }
      }
    }
    CompletableFuture.allOf(answers.toArray(CompletableFuture<?>[]::new)).join();
    for (int i = 0; i < answers.size(); i++) {
      assertThat(answers.get(i).join().sequence()).isEqualTo(i + 1);
    }
    for (Counting agent : agents.values()) {
      assertThat(agent.effects).hasSize(3 * each);
      assertThat(agent.effects.values()).containsOnly(1);
    }
    long duplicates = 0;
    for (String from : groups) {
      for (String to : groups) {
        LinkCounts sent = byGroup.get(from).counts().get(to);
        LinkCounts received = byGroup.get(to).counts().get(from);
        assertThat(sent.sent()).isEqualTo(each).isEqualTo(received.received());
        assertThat(sent.answered()).isEqualTo(each);
        assertThat(sent.abandoned()).isZero();
        assertThat(sent.repeated() == 0).as("only a network loses").isEqualTo(from.equals(to));
        duplicates += received.duplicates();
      }
      assertThat(byGroup.get(from).waiting()).isZero();
    }
    assertThat(duplicates).as("the network was lossy").isGreaterThan(each);
  }

  @Test
  void aGroupThatIsAwayIsWaitedFor() {
    GroupLink a = link("a", 1, network, PATIENCE);
    AgentId to = new AgentId("b", "supermarket", 0);
    CompletableFuture<Acknowledgement> answer =
        a.send(to, numbered(1), Acknowledgement.class).toCompletableFuture();
    while (repeated(a) < 3) {
      Thread.onSpinWait();
    }
    assertThat(answer).isNotDone();
    GroupLink b = link("b", 1, network, PATIENCE);
    b.add(new Counting("b"));
    network.connect("b", b::receive);
    assertThat(answer.join().sequence()).isEqualTo(1);
  }

  private static long repeated(GroupLink link) {
    return link.counts().values().stream().mapToLong(LinkCounts::repeated).sum();
  }

  /**
   * A group starts anew: it counts from 1 again, and what it says is not taken for a repetition.
   */
  @Test
  void aGroupThatWasStartedAnewIsHeard() {
    GroupLink b = link("b", 1, network, PATIENCE);
    Counting agent = new Counting("b");
    b.add(agent);
    network.connect("b", b::receive);
    for (int life = 1; life <= 3; life++) {
      GroupLink a = link("a", life, network, PATIENCE);
      for (long i = 0; i < 20; i++) {
        a.send(agent.id(), numbered(100L * life + i), Acknowledgement.class)
            .toCompletableFuture()
            .join();
      }
    }
    assertThat(agent.effects).hasSize(60);
    assertThat(agent.effects.values()).containsOnly(1);
  }

  @Test
  void patienceEnds() {
    Patience hasty =
        new Patience(Duration.ofMillis(1), Duration.ofMillis(2), Duration.ofMillis(30));
    GroupLink a = link("a", 1, network, hasty);
    assertThatThrownBy(
            () ->
                a.send(new AgentId("b", "supermarket", 0), numbered(1), Acknowledgement.class)
                    .toCompletableFuture()
                    .join())
        .hasCauseInstanceOf(LinkException.class)
        .hasMessageContaining("no answer from b/supermarket/0");
    assertThat(a.counts().get("b").abandoned()).isEqualTo(1);
    assertThat(a.waiting()).isZero();
  }

  @Test
  void whoeverAsksWronglyIsToldSoAndNothingIsRepeated() {
    GroupLink a = link("a", 1, new HttpTransport(Map.of(), tiers.post()), PATIENCE);
    Counting agent = new Counting("a");
    a.add(agent);
    assertFails(a, new AgentId("a", "supermarket", 9), numbered(1), "there is no a/supermarket/9");
    assertFails(
        a, new AgentId("x", "supermarket", 0), numbered(1), "group x is not among the peers");
    assertFails(a, agent.id(), new Acknowledgement(1), "ClassCastException");
    assertThatThrownBy(
            () -> a.send(agent.id(), numbered(3), PriceUpdate.class).toCompletableFuture().join())
        .hasMessageContaining("answered PlaceOrder by Acknowledgement");
    assertThat(repeated(a)).isZero();
    assertThat(a.waiting()).isZero();
    assertThatThrownBy(() -> a.add(agent)).hasMessageContaining("already");
    assertThatThrownBy(() -> a.add(new Counting("b"))).hasMessageContaining("not of group a");
  }

  private static void assertFails(GroupLink link, AgentId to, Message message, String why) {
    assertThatThrownBy(
            () -> link.send(to, message, Acknowledgement.class).toCompletableFuture().join())
        .hasCauseInstanceOf(LinkException.class)
        .hasMessageContaining(why);
  }

  @Test
  void whatWaitsWhenTheLinkIsClosedFails() {
    GroupLink a = link("a", 1, (group, bytes) -> new CompletableFuture<>(), PATIENCE);
    var answer = a.send(new AgentId("b", "supermarket", 0), numbered(1), Acknowledgement.class);
    a.close();
    assertThatThrownBy(() -> answer.toCompletableFuture().join()).hasMessageContaining("closed");
  }
}
