package assay.probes.classes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import assay.probes.Held;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Test;

class GeneratedCodeTest {
  @Test
  void hotMethodsComputeWhatTheirSourceSays() throws Exception {
    byte[] bytes = HotClass.bytes("probe/Hot", 150);
    IntUnaryOperator caller =
        (IntUnaryOperator) new BytesLoader().define(bytes).getConstructor().newInstance();
    int expected = 0;
    for (int loop = 0; loop < 150; loop++) {
      int sum = 0;
      for (int i = 0; i < 20; i++) {
        sum = (sum * (3 + loop % 100)) ^ i;
      }
      expected ^= sum;
    }
    assertThat(caller.applyAsInt(20)).isEqualTo(expected);
  }

  @Test
  void everyMethodOfASmallClassReturnsItsNumber() throws Exception {
    Class<?> type = new BytesLoader().define(SmallClass.bytes("probe/Small", 5));
    assertThat(type.getDeclaredMethods()).hasSize(5);
    assertThat(type.getMethod("method3").invoke(null)).isEqualTo(3);
  }

  @Test
  void classesAreCountedByTheJvmItself() {
    GeneratedClasses classes = new GeneratedClasses(5);
    assertThat(classes.held().bytes()).isZero();
    classes.grow(200);
    Held held = classes.held();
    assertThat(held.count()).isEqualTo(200);
    // A class with six methods takes some 2 KB of metaspace: constant pool, methods, class.
    assertThat(held.bytes() / held.count()).isBetween(1_000L, 10_000L);
  }

  @Test
  void aClassHasRoomForSoManyConstantsAndNoMore() {
    ClassFile file = new ClassFile("probe/Full", "java/lang/Object");
    for (int i = 0; i < ClassFile.CONSTANTS_MAX; i++) {
      file.utf8("n" + i);
    }
    assertThatThrownBy(() -> file.utf8("one more")).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void symbolsMayNeedSeveralClasses() {
    Symbols symbols = new Symbols(33);
    symbols.grow(60_000);
    // 6 + 33 bytes are rounded up to 40.
    assertThat(symbols.held().bytes()).isEqualTo(60_000 * 40);
  }
}
