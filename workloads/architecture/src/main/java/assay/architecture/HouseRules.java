package assay.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;

import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/**
 * The rules of every module. A test has them hold for the classes that it analyzes by a field
 * {@code @ArchTest static final ArchTests houseRules = ArchTests.in(HouseRules.class)}.
 */
public final class HouseRules {
  @ArchTest
  static final ArchRule noNameHidesBehindImpl =
      classes()
          .should()
          .haveSimpleNameNotEndingWith("Impl")
          .andShould()
          .haveSimpleNameNotEndingWith("Manager");

  @ArchTest
  static final ArchRule staticsAreConstants =
      fields().that().haveModifier(JavaModifier.STATIC).should().beFinal();

  private HouseRules() {}
}
