package assay.airline.documents;

import static assay.airline.documents.Documents.withId;
import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Filters.gt;
import static com.mongodb.client.model.Filters.ne;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DocumentsTest {
  private final TestStore store = new TestStore();

  @AfterEach
  void close() {
    store.close();
  }

  @Test
  void allConditionsBesideTheIdMustHold() {
    var flights = store.documents().collection("flights");
    flights.insertOne(new Document("_id", "f").append("left", 1).append("taken", List.of("b")));
    assertThat(flights.find(withId("f"))).hasSize(1);
    assertThat(flights.find(withId("f", gt("left", 0), eq("taken", "b")))).hasSize(1);
    assertThat(flights.find(withId("f", gt("left", 0), ne("taken", "b")))).isEmpty();
    assertThat(flights.find(withId("f", gt("left", 1), eq("taken", "b")))).isEmpty();
    assertThat(flights.find(withId("g", gt("left", 0)))).isEmpty();
  }

  @Test
  void aSecondConditionForAFieldIsRefused() {
    assertThatThrownBy(() -> withId("f", gt("left", 0), ne("left", 7)))
        .hasMessageContaining("left");
  }
}
