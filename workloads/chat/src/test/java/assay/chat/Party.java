package assay.chat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Users in rooms, each with a thread of its own. */
final class Party implements AutoCloseable {
  /** What each user does. */
  @FunctionalInterface
  interface Part {
    void play(TestClient user) throws IOException;
  }

  /** How a user gets to its server. */
  @FunctionalInterface
  interface Entrance {
    TestClient open(int user) throws IOException;
  }

  private final List<TestClient> users = new ArrayList<>();
  private final ExecutorService threads = Executors.newCachedThreadPool();

  /** So many rooms of so many users, who are all in when this returns. */
  Party(int rooms, int usersEach, Entrance entrance) throws IOException {
    for (int room = 0; room < rooms; room++) {
      for (int user = 0; user < usersEach; user++) {
        TestClient client = entrance.open(user);
        users.add(client);
        int members = client.enter("user-" + room + "-" + user, "room-" + room);
        if (members != user + 1) {
          throw new IOException("%d members, not %d".formatted(members, user + 1));
        }
      }
    }
  }

  List<TestClient> users() {
    return users;
  }

  /** Has all of these users do this at the same time, and waits for them. */
  void all(List<TestClient> some, Part part) throws Exception {
    List<Callable<Void>> tasks = new ArrayList<>();
    for (TestClient user : some) {
      tasks.add(
          () -> {
            part.play(user);
            return null;
          });
    }
    for (Future<Void> done : threads.invokeAll(tasks)) {
      try {
        done.get();
      } catch (ExecutionException e) {
        throw new AssertionError(e.getCause());
      }
    }
  }

  @Override
  public void close() throws IOException {
    for (TestClient user : users) {
      user.close();
    }
    threads.shutdownNow();
  }
}
