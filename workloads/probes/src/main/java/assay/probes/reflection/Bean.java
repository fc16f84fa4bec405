package assay.probes.reflection;

import assay.probes.classes.BytesLoader;
import assay.probes.classes.ClassFile;

/** Generates classes with fields, getters and setters. */
final class Bean {
  private Bean() {}

  static Class<?> define(BytesLoader loader, int number, int fields) {
    String name = "probe/Bean" + number;
    ClassFile file = new ClassFile(name, "java/lang/Object").constructor();
    for (int i = 0; i < fields; i++) {
      file.field(0, "field" + i, "I");
      int field = file.fieldOf(name, "field" + i, "I");
      file.method(
          ClassFile.PUBLIC,
          "getField" + i,
          "()I",
          1,
          1,
          out -> {
            out.writeByte(0x2A); // aload_0
            out.writeByte(0xB4); // getfield
            out.writeShort(field);
            out.writeByte(0xAC); // ireturn
          });
      file.method(
          ClassFile.PUBLIC,
          "setField" + i,
          "(I)V",
          2,
          2,
          out -> {
            out.writeByte(0x2A); // aload_0
            out.writeByte(0x1B); // iload_1
            out.writeByte(0xB5); // putfield
            out.writeShort(field);
            out.writeByte(0xB1); // return
          });
    }
    return loader.define(file.toBytes());
  }
}
