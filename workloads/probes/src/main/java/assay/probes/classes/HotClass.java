package assay.probes.classes;

import java.util.ArrayList;
import java.util.List;

/** An {@code IntUnaryOperator} that calls many static methods, each of which runs a short loop. */
final class HotClass {
  private static final String LOOP = "(I)I";

  private HotClass() {}

  static byte[] bytes(String name, int methods) {
    ClassFile file =
        new ClassFile(name, "java/lang/Object")
            .implementing("java/util/function/IntUnaryOperator")
            .constructor();
    List<Integer> loops = new ArrayList<>();
    for (int i = 0; i < methods; i++) {
      loops.add(file.methodOf(name, "loop" + i, LOOP));
      file.method(ClassFile.STATIC, "loop" + i, LOOP, 2, 3, loop(i));
    }
    file.method(
        ClassFile.PUBLIC,
        "applyAsInt",
        LOOP,
        2,
        3,
        out -> {
          out.writeByte(0x03); // iconst_0
          out.writeByte(0x3D); // istore_2
          for (int loop : loops) {
            out.writeByte(0x1C); // iload_2
            out.writeByte(0x1B); // iload_1
            out.writeByte(0xB8); // invokestatic
            out.writeShort(loop);
            out.writeByte(0x82); // ixor
            out.writeByte(0x3D); // istore_2
          }
          out.writeByte(0x1C); // iload_2
          out.writeByte(0xAC); // ireturn
        });
    return file.toBytes();
  }

  /** {@code sum = 0; for (i = 0; i < n; i++) sum = (sum * k) ^ i; return sum} */
  private static ClassFile.Part loop(int number) {
    int k = 3 + number % 100;
    return out -> {
      out.write(
          new byte[] {
            0x03,
            0x3C, // iconst_0, istore_1: sum
            0x03,
            0x3D, // iconst_0, istore_2: i
            (byte) 0xA7,
            0,
            13, // goto the condition
            0x1B,
            0x10,
            (byte) k,
            0x68, // iload_1, bipush k, imul
            0x1C,
            (byte) 0x82,
            0x3C, // iload_2, ixor, istore_1
            (byte) 0x84,
            2,
            1, // iinc i by 1
            0x1C,
            0x1A,
            (byte) 0xA1,
            -1,
            -12, // iload_2, iload_0, if_icmplt the body
            0x1B,
            (byte) 0xAC // iload_1, ireturn
          });
    };
  }
}
