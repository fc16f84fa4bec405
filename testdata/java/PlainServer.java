import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.LockSupport;

/** A server of the JDK's own classes that knows nothing of Assay. Each request takes as many rounds of work as WORK says; as many threads
 * as WAITING says do nothing. */
public final class PlainServer {
    private PlainServer() {}

    public static void main(String[] arguments) throws IOException {
        int rounds = Integer.parseInt(System.getenv().getOrDefault("WORK", "10000"));
        InetSocketAddress address =
                new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(arguments[0]));
        int waiting = Integer.parseInt(System.getenv().getOrDefault("WAITING", "0"));
        for (int number = 0; number < waiting; number++) {
            Thread thread = new Thread(LockSupport::park);
            thread.setDaemon(true);
            thread.start();
        }
        HttpServer server = HttpServer.create(address, 0);
        server.createContext("/", exchange -> {
            byte[] answer = Long.toString(work(rounds)).getBytes(StandardCharsets.US_ASCII);
            exchange.sendResponseHeaders(200, answer.length);
            try (OutputStream body = exchange.getResponseBody()) {
                body.write(answer);
            }
        });
        server.start();
    }

    private static long work(int rounds) {
        long sum = 1;
        for (int round = 0; round < rounds; round++) {
            sum = sum * 31 + round;
        }
        return sum;
    }
}
