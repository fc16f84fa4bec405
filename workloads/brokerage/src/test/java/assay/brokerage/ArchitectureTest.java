package assay.brokerage;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import assay.architecture.HouseRules;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;

@AnalyzeClasses(packages = "assay.brokerage", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
  @ArchTest
  static final ArchRule onlyTheWebKnowsTheWeb =
      noClasses()
          .that()
          .resideOutsideOfPackage("assay.brokerage.web..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "assay.brokerage.web..", "jakarta.servlet..", "jakarta.websocket..", "jakarta.el..")
          .because("orders and accounts must not care how they are asked for");

  @ArchTest
  static final ArchRule theWebDoesNotTouchTables =
      noClasses()
          .that()
          .resideInAPackage("assay.brokerage.web..")
          .and()
          .doNotHaveSimpleName("Startup")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("jakarta.persistence..", "javax.sql..")
          .because("a transaction begins in the domain");

  @ArchTest
  static final ArchRule theAuditReadsTablesOnly =
      noClasses()
          .that()
          .resideInAPackage("assay.brokerage.audit..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "assay.brokerage.account..",
              "assay.brokerage.order..",
              "assay.brokerage.quote..",
              "jakarta.persistence..")
          .because("an audit that shares code with what it audits shares its errors");

  @ArchTest static final ArchTests houseRules = ArchTests.in(HouseRules.class);
}
