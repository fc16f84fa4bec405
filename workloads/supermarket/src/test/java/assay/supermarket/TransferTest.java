package assay.supermarket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import assay.supermarket.link.AgentId;
import assay.supermarket.message.OrderLine;
import assay.supermarket.message.Transfer;
import assay.supermarket.message.TransferReply;
import assay.supermarket.message.TransferRequest;
import assay.supermarket.store.Supermarket;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A supermarket hands goods over once, however often it is asked. */
class TransferTest {
  private static TransferReply ask(Supermarket giver, AgentId asker, long first, int... products) {
    List<Transfer> wanted =
        Arrays.stream(products)
            .mapToObj(product -> new Transfer(List.of(new OrderLine(product, 1))))
            .toList();
    return (TransferReply)
        giver
            .receive(new TransferRequest(asker.toString(), first, wanted))
            .toCompletableFuture()
            .join();
  }

  @Test
  void aRepeatedRequestGetsTheSameGoodsAndWhatIsNewInIt() throws Exception {
    try (TestCompany company = new TestCompany("north")) {
      Supermarket giver = company.first().supermarkets().get(0);
      AgentId asker = giver.partners().get(0);
      TransferReply first = ask(giver, asker, 1, 3, 4);
      assertThat(first.transfers()).hasSize(2);
      // The answer was lost, and meanwhile one more customer came.
      TransferReply repeated = ask(giver, asker, 1, 3, 4, 5);
      assertThat(repeated.transfers()).hasSize(3).startsWith(first.transfers().get(0));
      assertThat(repeated.transfers().get(1)).isEqualTo(first.transfers().get(1));
      assertThat(giver.effects()).isEqualTo(3);
      assertThat(ask(giver, asker, 4, 6).transfers()).hasSize(1);
      assertThatThrownBy(() -> ask(giver, asker, 1, 3))
          .hasMessageContaining("was answered long ago");
    }
  }
}
