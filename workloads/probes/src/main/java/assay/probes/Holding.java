package assay.probes;

/** Memory of one kind that a probe holds, and what can be done to it. Used by one thread. */
public interface Holding {
  /** Holds so many more. */
  void grow(int count);

  /** Lets go of everything. What the collector must find first, {@link #isSettled} tells. */
  void release();

  /** Writes to every page again, where that means something. */
  default void touch() {}

  /** Whether a collection has left what {@link #held} says and nothing more. */
  default boolean isSettled() {
    return true;
  }

  /** What is held now. */
  Held held();
}
