package assay.probes.classes;

/** A class with a constructor and some methods that return a number. */
final class SmallClass {
  private SmallClass() {}

  static byte[] bytes(String name, int methods) {
    ClassFile file = new ClassFile(name, "java/lang/Object").constructor();
    for (int i = 0; i < methods; i++) {
      int value = i & 0x7F;
      file.method(
          ClassFile.PUBLIC | ClassFile.STATIC,
          "method" + i,
          "()I",
          1,
          0,
          out -> {
            out.writeByte(0x10); // bipush
            out.writeByte(value);
            out.writeByte(0xAC); // ireturn
          });
    }
    return file.toBytes();
  }
}
