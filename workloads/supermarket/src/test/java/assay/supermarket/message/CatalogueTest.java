package assay.supermarket.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

class CatalogueTest {
  static final List<Class<? extends Message>> TYPES = MessageTypes.ALL;

  private record Unlisted(long number) implements Message {}

  @Wire(format = Wire.Format.BINARY)
  private record WithMap(Map<String, String> map) implements Message {}

  @Wire(format = Wire.Format.BINARY)
  private record WithItself(List<WithItself> inner) implements Message {}

  @Test
  void allTypesOfMessagesAreListed() {
    Set<String> written =
        new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests())
                .importPackages("assay.supermarket.message")
                .stream()
                .filter(type -> type.isAssignableTo(Message.class) && !type.isInterface())
                .map(JavaClass::getName)
                .collect(Collectors.toSet());
    assertThat(TYPES.stream().map(Class::getName))
        .as("MessageTypes.ALL lists what is written")
        .containsExactlyInAnyOrderElementsOf(written);
  }

  /** Binary ones too: their form can be changed without more ado. */
  @ParameterizedTest
  @FieldSource("TYPES")
  void aTypesSchemaIsWhatItsComponentsAre(Class<? extends Message> type) throws IOException {
    String want = SchemaText.of(RecordShape.of(type));
    String name = type.getSimpleName() + ".xsd";
    if (Boolean.getBoolean("supermarket.write-schemas")) {
      Path folder = Path.of("src/main/resources/assay/supermarket/message");
      Files.writeString(Files.createDirectories(folder).resolve(name), want);
      return;
    }
    try (InputStream schema = Message.class.getResourceAsStream(name)) {
      assertThat(schema).as(name + ": mvn test -Dsupermarket.write-schemas=true").isNotNull();
      assertThat(new String(schema.readAllBytes(), StandardCharsets.UTF_8))
          .as(name + ": mvn test -Dsupermarket.write-schemas=true writes it anew")
          .isEqualTo(want);
    }
  }

  @Test
  void anUnlistedTypeIsNeitherWrittenNorRead() {
    Catalogue catalogue = Catalogue.of(TYPES);
    assertThatThrownBy(() -> catalogue.typeOf(new Unlisted(1)))
        .isInstanceOf(MessageException.class)
        .hasMessageContaining("Unlisted");
    assertThatThrownBy(() -> catalogue.typeNamed("java.lang.Runtime"))
        .isInstanceOf(MessageException.class)
        .hasMessage("unknown type of message java.lang.Runtime");
  }

  @Test
  void aTypeThatCannotBeSentIsRefusedAtTheStart() {
    assertThatThrownBy(() -> Catalogue.of(List.of(Unlisted.class))).hasMessageContaining("@Wire");
    assertThatThrownBy(() -> Catalogue.of(List.of(WithMap.class))).hasMessageContaining("map");
    assertThatThrownBy(() -> Catalogue.of(List.of(WithItself.class)))
        .hasMessageContaining("nested too deeply");
    assertThatThrownBy(() -> Catalogue.of(List.of(AuditQuery.class, AuditQuery.class)))
        .hasMessageContaining("two types");
  }
}
