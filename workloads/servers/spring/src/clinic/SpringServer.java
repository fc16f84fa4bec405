// In a package: from the unnamed one Spring would look for its components in every library.
package clinic;

import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;
import java.util.List;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.data.jpa.repository.config.EnableJpaRepositories;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;

/** A clinic's visits: a page from a template, JPA, an embedded database. Options as Spring Boot's, on the command line. */
@SpringBootApplication
@EnableJpaRepositories(considerNestedRepositories = true)
public class SpringServer {
  public static void main(String[] arguments) {
    SpringApplication.run(SpringServer.class, arguments);
  }

  /** A visit of a pet. */
  @Entity(name = "visit")
  public static class Visit {
    @Id @GeneratedValue private Long id;
    private String pet;

    protected Visit() {}

    Visit(String pet) {
      this.pet = pet;
    }

    public Long getId() {
      return id;
    }

    public String getPet() {
      return pet;
    }
  }

  /** All visits. */
  public interface Visits extends JpaRepository<Visit, Long> {
    List<Visit> findTop20ByOrderByIdDesc();
  }

  /** The page. */
  @Controller
  public static class Pages {
    private final Visits visits;

    Pages(Visits visits) {
      this.visits = visits;
    }

    /** Adds a visit and shows the last ones. */
    @GetMapping("/")
    public String page(Model model) {
      visits.save(new Visit("pet " + visits.count() % 100));
      model.addAttribute("visits", visits.findTop20ByOrderByIdDesc());
      return "visits";
    }
  }
}
