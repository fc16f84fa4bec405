package assay.airline.main;

import assay.airline.main.audit.AuditResource;
import assay.airline.main.gateway.StatsResource;
import assay.airline.web.Service;
import jakarta.ws.rs.ApplicationPath;
import java.util.Set;

/** The main service: what customers ask, handed on to the others, and the audit of them all. */
@ApplicationPath("/")
public class MainService extends Service {
  public MainService() {
    super(Set.of(AuditResource.class, StatsResource.class));
  }
}
