package assay.probes.jmh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/**
 * The checks hold at any point of a round, and see a structure that does not do what is measured.
 */
class AnswersTest {
  private static final int COUNT = 4096;

  @Test
  void theRingIsWholeAtEveryPlaceAndABrokenOneIsSeen() {
    PointerChase chase = new PointerChase();
    chase.nodes = COUNT * 2;
    chase.link();
    PointerChase.Node first = null;
    for (int i = 0; i < 5; i++) {
      chase.check();
      first = chase.follow();
    }
    first.next = first;
    assertThatThrownBy(chase::check).isInstanceOf(WrongAnswer.class);
  }

  @Test
  void theMapGivesEachKeyItsValueAndAWrongValueIsSeen() {
    ReferenceMap map = map();
    for (int i = 0; i < 10; i++) {
      map.check();
      map.get();
    }
    for (int puts = 0; puts < 10; puts++) {
      map = map();
      for (int i = 0; i < puts; i++) {
        var before = map.put();
        assertThat(before).isNotNull();
      }
      map.check();
    }
    ReferenceMap wrong = map();
    wrong.put();
    wrong.get();
    assertThatThrownBy(wrong::check).isInstanceOf(WrongAnswer.class);
  }

  private static ReferenceMap map() {
    ReferenceMap map = new ReferenceMap();
    map.entries = COUNT;
    map.fill();
    return map;
  }

  @Test
  void everyHolderHasTheLastValueAndAForeignOneIsSeen() throws ReflectiveOperationException {
    CardMarking marking = new CardMarking();
    marking.holders = COUNT;
    marking.age();
    for (int i = 0; i < 14; i++) {
      marking.check();
      marking.store();
    }
    var shuffled = CardMarking.class.getDeclaredField("shuffled");
    shuffled.setAccessible(true);
    ((CardMarking.Holder[]) shuffled.get(marking))[7].value = "foreign";
    assertThatThrownBy(marking::check).isInstanceOf(WrongAnswer.class);
  }

  @Test
  void theTargetIsWhatWasCopiedLastAndAForeignReferenceIsSeen() {
    ArrayCopy copy = new ArrayCopy();
    copy.length = COUNT;
    copy.fill();
    Object[] target = null;
    for (int i = 0; i < 3; i++) {
      copy.check();
      target = copy.copy();
    }
    target[COUNT - 1] = "foreign";
    assertThatThrownBy(copy::check).isInstanceOf(WrongAnswer.class);
  }
}
