package assay.gclogpeer;

/**
 * What a reader made of a log.
 *
 * @param pauses how many pauses it found
 * @param totalMs their sum, milliseconds
 */
record PauseSum(long pauses, double totalMs) {}
