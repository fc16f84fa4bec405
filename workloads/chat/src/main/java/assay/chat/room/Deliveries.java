package assay.chat.room;

/** Deliveries to one client: due, handed to the kernel whole, still queued, dropped. */
record Deliveries(long due, long delivered, long queued, long dropped) {}
