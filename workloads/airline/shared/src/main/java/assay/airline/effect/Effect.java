package assay.airline.effect;

/**
 * What became of one effect of a booking, such as a seat that it takes. Each effect is keyed by the
 * booking, so that asking twice does it once.
 */
public enum Effect {
  /** It is done, by this request or an earlier one. */
  DONE,
  /** It is not done, because there is no room. */
  NO_ROOM,
  /** It was taken back, and will not be done again: the request came late. */
  TAKEN_BACK,
  /** There is nothing that it could be done to. */
  UNKNOWN
}
