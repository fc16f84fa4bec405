package assay.supermarket.message;

/**
 * How messages of a type travel.
 *
 * @param secure encrypted and signed
 */
public record Form(Wire.Format format, boolean secure, boolean compressed) {
  private static final int BINARY = 1;
  private static final int COMPRESSED = 2;
  private static final int SECURE = 4;

  /** As the type says itself, by {@link Wire}. */
  public static Form declaredBy(Class<? extends Message> type) {
    Wire wire = type.getAnnotation(Wire.class);
    if (wire == null) {
      throw new IllegalArgumentException(type.getName() + " does not say by @Wire how it travels");
    }
    return new Form(wire.format(), wire.secure(), wire.compressed());
  }

  /** The form as one number of three bits, as it stands in envelopes. */
  public int bits() {
    return (format == Wire.Format.BINARY ? BINARY : 0)
        | (compressed ? COMPRESSED : 0)
        | (secure ? SECURE : 0);
  }
}
