package assay.supermarket.message;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The promise on which generic codecs rely. */
class MessageTypesTest {
  private static final Set<Type> SIMPLE =
      Set.of(long.class, int.class, boolean.class, String.class);
  private static final Set<Type> LISTED = Set.of(Long.class, String.class);

  @Test
  void everyMessageIsARecordThatSaysHowItTravels() {
    List<Class<?>> messages = messages();
    assertThat(messages).hasSizeGreaterThan(20);
    for (Class<?> message : messages) {
      assertThat(message.isRecord()).as(message.getName()).isTrue();
      assertThat(message.getAnnotation(Wire.class)).as(message.getName()).isNotNull();
      assertFieldsAreSimple(message);
    }
  }

  private static List<Class<?>> messages() {
    return new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("assay.supermarket")
            .stream()
            .filter(type -> !type.isInterface() && type.isAssignableTo(Message.class))
            .<Class<?>>map(JavaClass::reflect)
            .toList();
  }

  private static void assertFieldsAreSimple(Class<?> type) {
    for (RecordComponent field : type.getRecordComponents()) {
      String where = type.getSimpleName() + "." + field.getName();
      if (SIMPLE.contains(field.getType())) {
        continue;
      }
      assertThat(field.getType()).as(where).isEqualTo(List.class);
      Type element = ((ParameterizedType) field.getGenericType()).getActualTypeArguments()[0];
      if (!LISTED.contains(element)) {
        assertThat(element).as(where).isInstanceOf(Class.class);
        assertThat(((Class<?>) element).isRecord()).as(where).isTrue();
        assertFieldsAreSimple((Class<?>) element);
      }
    }
  }
}
