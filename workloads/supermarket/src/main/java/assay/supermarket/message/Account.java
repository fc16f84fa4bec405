package assay.supermarket.message;

/** A named amount in an agent's books: pieces, cents, messages or a fingerprint. */
public record Account(String name, long amount) {}
