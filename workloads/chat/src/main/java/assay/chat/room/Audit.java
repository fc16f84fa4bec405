package assay.chat.room;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** What the server says of itself over HTTP. */
public final class Audit {
  /** What is answered: a status of HTTP and JSON. */
  public record Answer(int status, String json) {}

  /** For how long an audit waits for the server to be at rest, and how long rest must last. */
  private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(20);

  private static final long REST_MS = 50;

  private static final Set<End> REASONS = EnumSet.complementOf(EnumSet.of(End.ANSWERED));

  private final Chat chat;
  private final String engine;

  public Audit(Chat chat, String engine) {
    this.chat = chat;
    this.engine = engine;
  }

  public Answer health() {
    return new Answer(200, "{\"ready\":true}");
  }

  public Answer stats() {
    return new Answer(200, "{" + keys(chat.books()) + "}");
  }

  /** Waits until nothing is under way. */
  public Answer audit() throws InterruptedException {
    long deadline = System.nanoTime() + PATIENCE_NS;
    Books before = chat.books();
    while (true) {
      Thread.sleep(REST_MS);
      Books books = chat.books();
      if (atRest(before, books)) {
        List<String> failed = failed(books);
        return new Answer(
            failed.isEmpty() ? 200 : 500,
            "{\"holds\":%b,\"failed\":[%s],%s}"
                .formatted(failed.isEmpty(), quoted(failed), keys(books)));
      }
      if (System.nanoTime() > deadline) {
        return new Answer(
            503,
            "{\"error\":\"the audit could not be finished: messages are under way; stop the load"
                + " and ask again\","
                + keys(books)
                + "}");
      }
      before = books;
    }
  }

  private static boolean atRest(Books before, Books now) {
    return now.queued == 0
        && before.said == now.said
        && before.due == now.due
        && before.delivered == now.delivered
        && before.users == now.users
        && before.ended.equals(now.ended);
  }

  private List<String> failed(Books books) {
    List<String> failed = new ArrayList<>(chat.failed());
    if (books.promised != books.due) {
      failed.add(
          "rooms promised %d deliveries, %d were queued".formatted(books.promised, books.due));
    }
    long known = books.delivered + books.queued + books.allDropped();
    if (books.due != known) {
      failed.add(
          "%d deliveries are due, %d were delivered, are queued or were dropped"
              .formatted(books.due, known));
    }
    return failed;
  }

  private String keys(Books books) {
    return ("\"connections\":%d,\"users\":%d,\"rooms\":%d,\"said\":%d,\"due\":%d,\"delivered\":%d,"
            + "\"queued\":%d,\"dropped\":{%s},\"ended\":{%s},\"refused\":%d,\"engine\":\"%s\"")
        .formatted(
            chat.clients().size(),
            books.users,
            chat.rooms(),
            books.said,
            books.due,
            books.delivered,
            books.queued,
            byReason(books.dropped),
            byReason(books.ended),
            books.refused,
            engine);
  }

  private static String byReason(Map<End, Long> counts) {
    return REASONS.stream()
        .map(end -> "\"" + end.word() + "\":" + counts.getOrDefault(end, 0L))
        .collect(Collectors.joining(","));
  }

  private static String quoted(List<String> sentences) {
    return sentences.stream()
        .map(sentence -> '"' + sentence + '"')
        .collect(Collectors.joining(","));
  }
}
