package assay.probes;

import java.util.List;

/** The numbers and words that follow a kind on the command line. */
public record Amounts(List<String> words) {
  public Amounts {
    words = List.copyOf(words);
  }

  /**
   * A number between 0 and that of a gibibyte, with {@code k} or {@code m} for 1024 and its square.
   */
  public int number(int index) {
    String word = words.get(index);
    int unit =
        switch (word.isEmpty() ? ' ' : word.charAt(word.length() - 1)) {
          case 'k' -> 1 << 10;
          case 'm' -> 1 << 20;
          default -> 1;
        };
    String digits = unit == 1 ? word : word.substring(0, word.length() - 1);
    long value = Math.multiplyExact(Long.parseLong(digits), unit);
    if (value < 0 || value > 1 << 30) {
      throw new IllegalArgumentException(word + " is not between 0 and 1073741824");
    }
    return (int) value;
  }

  /** A number that is not zero: the size of something. */
  public int size(int index) {
    int size = number(index);
    if (size == 0) {
      throw new IllegalArgumentException("a size of 0 bytes");
    }
    return size;
  }

  public String word(int index) {
    return words.get(index);
  }
}
