// Started by tests: a server that allocates a known amount for each request, beside what the JDK's HTTP server itself needs.
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;

class Allocates {
    static volatile byte[] last;

    public static void main(String[] words) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(words[0])), 0);
        server.createContext("/", exchange -> {
            for (int i = 0; i < 100; i++) {
                last = new byte[10 * 1024 - 16];
            }
            byte[] answer = "yes".getBytes();
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
    }
}
