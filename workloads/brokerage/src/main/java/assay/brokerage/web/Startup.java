package assay.brokerage.web;

import assay.brokerage.database.DataSet;
import assay.brokerage.database.DataSetSize;
import assay.brokerage.database.Schema;
import assay.brokerage.market.Market;
import assay.brokerage.order.Ids;
import assay.brokerage.order.ManagedThreads;
import assay.brokerage.order.OrderCompletion;
import jakarta.inject.Inject;
import jakarta.servlet.ServletContextEvent;
import jakarta.servlet.ServletContextListener;
import jakarta.servlet.annotation.WebListener;
import jakarta.servlet.jsp.JspFactory;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Makes the server ready: a data set if the database is empty, and what a kill left open. */
@WebListener
public class Startup implements ServletContextListener {
  private static final Logger LOG = System.getLogger(Startup.class.getName());

  @Inject private DataSource dataSource;
  @Inject private DataSetSize size;
  @Inject private Ids ids;
  @Inject private OrderCompletion completion;
  @Inject private Market market;
  @Inject private ManagedThreads threads;
  @Inject private Readiness readiness;

  @Override
  public void contextInitialized(ServletContextEvent event) {
    JspFactory.getDefaultFactory()
        .getJspApplicationContext(event.getServletContext())
        .addELResolver(new RecordResolver());
    // In its own thread, so that /health can say 503 meanwhile.
    threads.execute(this::start);
  }

  private void start() {
    try {
      loadIfEmpty();
      ids.start();
      completion.recover();
      market.summary();
      readiness.ready();
    } catch (RuntimeException | SQLException e) {
      LOG.log(Level.ERROR, "the server does not get ready", e);
      readiness.failed(e.toString());
    }
  }

  private void loadIfEmpty() throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      if (!Schema.exists(connection)) {
        DataSet.create(connection, size);
      }
    }
  }
}
