package assay.probes.heap;

/** Names that differ from each other and from all others in a JVM. */
public final class DistinctName {
  private DistinctName() {}

  /** Name number {@code index}, exactly {@code length} characters of ASCII long. */
  public static String of(String prefix, int index, int length) {
    String end = prefix + "_probe_" + Integer.toString(index, 36);
    if (end.length() > length) {
      throw new IllegalArgumentException(
          "name " + index + " needs more than " + length + " characters");
    }
    return "x".repeat(length - end.length()) + end;
  }
}
