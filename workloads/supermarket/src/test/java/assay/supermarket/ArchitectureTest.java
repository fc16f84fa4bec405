package assay.supermarket;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import assay.architecture.HouseRules;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;

@AnalyzeClasses(
    packages = "assay.supermarket",
    importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
  @ArchTest
  static final ArchRule supermarketsTalkByMessages =
      noClasses()
          .that()
          .resideInAPackage("..store..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("..supplier..", "..headquarters..", "..office..", "..audit..")
          .because("an agent may live in another process");

  @ArchTest
  static final ArchRule suppliersTalkByMessages =
      noClasses()
          .that()
          .resideInAPackage("..supplier..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("..store..", "..headquarters..", "..office..", "..audit..");

  @ArchTest
  static final ArchRule headquartersTalkByMessages =
      noClasses()
          .that()
          .resideInAPackage("..headquarters..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("..store..", "..supplier..", "..office..", "..audit..");

  @ArchTest
  static final ArchRule theAuditReadsBooksOnly =
      noClasses()
          .that()
          .resideInAPackage("..audit..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "..store..", "..supplier..", "..headquarters..", "..office..", "..post..")
          .because("an audit that shares code with what it audits shares its errors");

  @ArchTest
  static final ArchRule onlyTheWebKnowsTheWeb =
      noClasses()
          .that()
          .resideInAnyPackage("..store..", "..supplier..", "..headquarters..", "..post..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("..web..", "org.eclipse.jetty..");

  @ArchTest static final ArchTests houseRules = ArchTests.in(HouseRules.class);
}
