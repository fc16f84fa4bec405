import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.handler.gzip.GzipHandler;

/** Jetty with one servlet: sessions, some text, compressed where the client takes it. Arguments: PORT. */
public final class JettyServer {
  private JettyServer() {}

  public static void main(String[] arguments) throws Exception {
    InetSocketAddress address =
        new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(arguments[0]));
    Server server = new Server(address);
    ServletContextHandler context = new ServletContextHandler(ServletContextHandler.SESSIONS);
    context.addServlet(new ServletHolder(new Pages()), "/");
    server.setHandler(new GzipHandler(context));
    server.start();
    server.join();
  }

  private static final class Pages extends HttpServlet {
    private static final int LINES = 200;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response)
        throws IOException {
      Integer seen = (Integer) request.getSession().getAttribute("seen");
      int visits = seen == null ? 1 : seen + 1;
      request.getSession().setAttribute("seen", visits);
      response.setContentType("text/plain");
      for (int line = 0; line < LINES; line++) {
        response.getWriter().println("line " + line + " of visit " + visits);
      }
    }
  }
}
