package assay.supermarket.message;

/**
 * What agents say to each other: implemented by records alone. Their fields are {@code long},
 * {@code int}, {@code String}, {@code boolean}, and {@code List} of {@code String}, {@code Long} or
 * of records with such fields, so that one codec carries all of them. {@link Wire} says how.
 */
public interface Message {}
