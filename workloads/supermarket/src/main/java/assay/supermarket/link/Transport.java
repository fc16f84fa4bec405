package assay.supermarket.link;

import java.util.concurrent.CompletionStage;

/**
 * Carries bytes to a group and brings its answer. It may lose, double, delay and reorder what it
 * carries, but the stage completes in the end: with an answer, or a failure that says no more than
 * that there is no answer.
 */
@FunctionalInterface
public interface Transport {
  /**
   * The answer of the group to these bytes.
   *
   * @throws IllegalArgumentException if there is no way to such a group, now or later
   */
  CompletionStage<byte[]> exchange(String group, byte[] envelope);
}
