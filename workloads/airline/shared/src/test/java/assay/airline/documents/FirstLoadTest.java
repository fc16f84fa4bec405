package assay.airline.documents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Iterator;
import java.util.stream.IntStream;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FirstLoadTest {
  private final TestStore store = new TestStore();

  @AfterEach
  void close() {
    store.close();
  }

  private static Iterator<Document> numbers(int count) {
    return IntStream.range(0, count).mapToObj(n -> new Document("_id", n)).iterator();
  }

  @Test
  void aSecondStartLoadsNothingAndKeepsWhatChanged() {
    assertThat(FirstLoad.into(store.documents(), "n", "small", numbers(1_201))).isTrue();
    store.documents().collection("n").deleteOne(new Document("_id", 7));
    assertThat(FirstLoad.into(store.documents(), "n", "small", numbers(1_201))).isFalse();
    assertThat(store.documents().collection("n").countDocuments()).isEqualTo(1_200);
  }

  @Test
  void aLoadThatWasKilledInTheMiddleBeginsAnew() {
    store.documents().collection("n").insertOne(new Document("_id", 3));
    assertThat(FirstLoad.into(store.documents(), "n", "small", numbers(10))).isTrue();
    assertThat(store.documents().collection("n").countDocuments()).isEqualTo(10);
  }

  @Test
  void aStoreOfAnotherDataSetIsNotTakenForThisOne() {
    FirstLoad.into(store.documents(), "n", "small", numbers(10));
    assertThatThrownBy(() -> FirstLoad.into(store.documents(), "n", "standard", numbers(20)))
        .hasMessageContaining("small")
        .hasMessageContaining("empty database");
  }
}
