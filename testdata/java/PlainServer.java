import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/** A server of the JDK's own classes that knows nothing of Assay. Each request takes as many rounds of work as WORK says. */
public final class PlainServer {
    private PlainServer() {}

    public static void main(String[] arguments) throws IOException {
        int rounds = Integer.parseInt(System.getenv().getOrDefault("WORK", "10000"));
        InetSocketAddress address =
                new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(arguments[0]));
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
