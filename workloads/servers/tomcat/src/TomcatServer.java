import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

/** Tomcat with one servlet: sessions, some text, compressed where the client takes it. Arguments: PORT DIR. */
public final class TomcatServer {
  private TomcatServer() {}

  public static void main(String[] arguments) throws Exception {
    Tomcat tomcat = new Tomcat();
    tomcat.setBaseDir(Path.of(arguments[1]).toAbsolutePath().toString());
    Connector connector = new Connector();
    connector.setPort(Integer.parseInt(arguments[0]));
    connector.setProperty("address", InetAddress.getLoopbackAddress().getHostAddress());
    connector.setProperty("compression", "on");
    tomcat.setConnector(connector);
    Context context = tomcat.addContext("", arguments[1]);
    Tomcat.addServlet(context, "pages", new Pages());
    context.addServletMappingDecoded("/", "pages");
    tomcat.start();
    tomcat.getServer().await();
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
