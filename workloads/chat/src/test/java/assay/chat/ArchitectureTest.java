package assay.chat;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import assay.architecture.HouseRules;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;

@AnalyzeClasses(packages = "assay.chat", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
  @ArchTest
  static final ArchRule roomsKnowNoProtocol =
      noClasses()
          .that()
          .resideInAPackage("..room..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("..wire..", "..engine..", "java.net..", "java.nio.channels..")
          .because("all engines and both protocols share them");

  @ArchTest
  static final ArchRule theProtocolKnowsNoEngine =
      noClasses()
          .that()
          .resideInAPackage("..wire..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("..engine..", "java.nio.channels..");

  @ArchTest
  static final ArchRule onlyTheJdkIsNeeded =
      classes().should().onlyDependOnClassesThat().resideInAnyPackage("java..", "assay.chat..");

  @ArchTest static final ArchTests houseRules = ArchTests.in(HouseRules.class);
}
