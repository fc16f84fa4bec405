package assay.supermarket.link;

/**
 * What went over a group's lanes to and from one other group (or itself) since its start.
 *
 * @param sent messages, each counted once, however often repeated
 * @param repeated further times that a message was sent
 * @param answered messages whose answer has come
 * @param abandoned messages that had no answer in time
 * @param received messages, each counted once
 * @param duplicates further times that a message came; they had no effect
 */
public record LinkCounts(
    long sent, long repeated, long answered, long abandoned, long received, long duplicates) {}
