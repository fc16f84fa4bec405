package assay.supermarket.post;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import assay.supermarket.link.AgentId;
import assay.supermarket.message.Message;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileJournalTest {
  private static final AgentId AGENT = new AgentId("main", "supplier", 3);
  private static final List<Class<? extends Message>> TYPES =
      List.of(Settled.class, Restored.class);

  @TempDir private Path folder;

  @Test
  void whatWasAppendedIsReadAgainAndAppendedTo() throws IOException {
    write(1, 2);
    assertThat(write(3)).containsExactly(1L, 2L);
    assertThat(write()).containsExactly(1L, 2L, 3L);
  }

  @Test
  void aJournalCutAtAnyByteGivesItsWholeEntriesAndGoesOn() throws IOException {
    write(1, 2, 3);
    byte[] whole = Files.readAllBytes(path());
    for (int bytes = 0; bytes < whole.length; bytes++) {
      Files.write(path(), Arrays.copyOf(whole, bytes));
      List<Long> read = write(9);
      assertThat(read).isEqualTo(List.of(1L, 2L, 3L).subList(0, read.size()));
      List<Long> after = new ArrayList<>(read);
      after.add(9L);
      assertThat(write()).as("cut at %s", bytes).isEqualTo(after);
    }
  }

  @Test
  void aChangedByteIsNoticed() throws IOException {
    write(1, 2, 3);
    byte[] whole = Files.readAllBytes(path());
    for (int at = 0; at < whole.length; at++) {
      byte[] changed = whole.clone();
      changed[at] ^= 1;
      Files.write(path(), changed);
      List<Long> read;
      try {
        read = write();
      } catch (IOException e) {
        continue;
      }
      // A longer length makes the rest look like half an entry; never is an entry a wrong one.
      assertThat(read).isEqualTo(List.of(1L, 2L, 3L).subList(0, read.size())).hasSizeLessThan(3);
    }
  }

  @Test
  void aJournalOfOtherSettingsIsRefused() throws IOException {
    write(1);
    FileJournal other = FileJournal.open(path(), TYPES, "other settings");
    assertThatThrownBy(() -> other.replay((agent, entry) -> {}))
        .isInstanceOf(FileJournal.Unusable.class)
        .hasMessageContaining("other settings");
    other.close();
  }

  @Test
  void nothingIsAppendedBeforeTheReplayOrAfterTheEnd() throws IOException {
    FileJournal journal = FileJournal.open(path(), TYPES, "settings");
    assertThatThrownBy(() -> journal.append(AGENT, new Restored(1)))
        .isInstanceOf(IllegalStateException.class);
    journal.replay((agent, entry) -> {});
    journal.append(AGENT, new Restored(1));
    journal.close();
    assertThatThrownBy(() -> journal.append(AGENT, new Restored(2)))
        .isInstanceOf(IllegalStateException.class);
  }

  /** Opens the journal, returns what is in it, and appends these numbers. */
  private List<Long> write(long... numbers) throws IOException {
    List<Long> read = new ArrayList<>();
    try (FileJournal journal = FileJournal.open(path(), TYPES, "settings")) {
      journal.replay(
          (agent, entry) -> {
            assertThat(agent).isEqualTo(AGENT);
            read.add(((Settled) entry).through());
          });
      for (long number : numbers) {
        journal.append(AGENT, new Settled("main/supermarket/0", number));
      }
    }
    return read;
  }

  private Path path() {
    return folder.resolve("main.journal");
  }
}
