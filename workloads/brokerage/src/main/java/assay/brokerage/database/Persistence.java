package assay.brokerage.database;

import jakarta.annotation.Resource;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import jakarta.persistence.EntityManager;
import jakarta.persistence.PersistenceContext;
import javax.sql.DataSource;

/** Hands the server's entity manager and data source to whoever asks for them. */
@Singleton
public class Persistence {
  @Produces @PersistenceContext EntityManager em;

  @Produces
  @Resource(name = "jdbc/brokerage")
  DataSource dataSource;
}
