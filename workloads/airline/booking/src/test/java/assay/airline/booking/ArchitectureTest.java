package assay.airline.booking;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import assay.architecture.HouseRules;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;

/** Of the booking service and what services share. */
@AnalyzeClasses(packages = "assay.airline", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
  @ArchTest
  static final ArchRule onlyResourcesKnowTheWeb =
      noClasses()
          .that()
          .haveSimpleNameNotEndingWith("Resource")
          .and()
          .haveSimpleNameNotEndingWith("Service")
          .and()
          .resideOutsideOfPackage("assay.airline.web..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("jakarta.ws.rs..", "jakarta.servlet..")
          .because("a booking must not care how it is asked for");

  @ArchTest
  static final ArchRule onlyRecordsTouchTheStore =
      noClasses()
          .that()
          .haveSimpleName("Bookings")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("com.mongodb..", "org.bson..")
          .because("what is booked does not depend on where it is written");

  @ArchTest static final ArchTests houseRules = ArchTests.in(HouseRules.class);
}
