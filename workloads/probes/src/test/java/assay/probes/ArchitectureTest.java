package assay.probes;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import assay.architecture.HouseRules;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;

@AnalyzeClasses(packages = "assay.probes", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
  @ArchTest
  static final ArchRule onlyTheServerKnowsHttp =
      noClasses()
          .that()
          .resideOutsideOfPackage("assay.probes.server..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("assay.probes.server..", "com.sun.net.httpserver..")
          .because("what an HTTP server allocates is not in a probe's account");

  @ArchTest
  static final ArchRule nothingButTheJdk =
      classes()
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage("assay.probes..", "java..", "com.sun.net.httpserver..")
          .because("what a library allocates is not in a probe's account");

  @ArchTest static final ArchTests houseRules = ArchTests.in(HouseRules.class);
}
