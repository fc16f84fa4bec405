package assay.airline.customer;

import assay.airline.web.Service;
import jakarta.ws.rs.ApplicationPath;
import java.util.Set;

/** The customer service: who customers are, their passwords and their miles. */
@ApplicationPath("/")
public class CustomerService extends Service {
  public CustomerService() {
    super(Set.of(CustomerResource.class, CustomerInternalResource.class));
  }
}
