import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * A shop with two leaks, for a sample of what a record shows: each order leaves a direct buffer of 256 KiB in a cache that forgets
 * nothing, and an invoice in a list. Four orders a second, until it is killed.
 */
public final class Forgetful {
    private static final int ORDERS_PER_S = 4;

    /** What was sent, to be sent again: nobody ever does. */
    static final class ReplyCache {
        private final List<ByteBuffer> replies = new ArrayList<>();

        void keep(int bytes) {
            ByteBuffer reply = ByteBuffer.allocateDirect(bytes);
            while (reply.remaining() >= Long.BYTES) {
                reply.putLong(replies.size());
            }
            replies.add(reply);
        }
    }

    /** A sold basket. */
    record Invoice(long number, long[] items) {}

    public static void main(String[] arguments) throws InterruptedException {
        ReplyCache cache = new ReplyCache();
        List<Invoice> invoices = new ArrayList<>();
        for (long order = 0; ; order++) {
            cache.keep(256 << 10);
            invoices.add(new Invoice(order, new long[4_096]));
            Thread.sleep(1_000 / ORDERS_PER_S);
        }
    }
}
