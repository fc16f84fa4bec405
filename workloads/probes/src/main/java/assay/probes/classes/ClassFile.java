package assay.probes.classes;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes class files (JVM specification, chapter 4). Of version 49: such classes need no stack map
 * frames, and every JVM still reads them.
 */
public final class ClassFile {
  public static final int PUBLIC = 1;
  public static final int STATIC = 8;
  private static final int MAGIC = 0xCAFEBABE;
  private static final int VERSION = 49;
  private static final int SUPER = 0x20;
  private static final int UTF8 = 1;
  private static final int CLASS = 7;
  private static final int FIELD = 9;
  private static final int METHOD = 10;
  private static final int NAME_AND_TYPE = 12;

  /** Constants are numbered from 1 to 65534. */
  public static final int CONSTANTS_MAX = 0xFFFE;

  /** Writes to memory, which cannot fail. */
  public interface Part {
    void to(DataOutputStream out) throws IOException;
  }

  private final String name;
  private final String parent;
  private final List<String> interfaces = new ArrayList<>();
  private final List<Part> constants = new ArrayList<>();
  private final Map<String, Integer> numbers = new HashMap<>();
  private final List<Part> fields = new ArrayList<>();
  private final List<Part> methods = new ArrayList<>();

  /** Names with slashes, as in a class file. */
  public ClassFile(String name, String parent) {
    this.name = name;
    this.parent = parent;
  }

  public ClassFile implementing(String type) {
    interfaces.add(type);
    return this;
  }

  /**
   * The number of a constant of text, which is made if it is new; an unused one is a symbol of the
   * JVM all the same.
   */
  public int utf8(String text) {
    return constant(
        "u" + text,
        out -> {
          out.writeByte(UTF8);
          out.writeUTF(text);
        });
  }

  public int type(String type) {
    int of = utf8(type);
    return constant("c" + type, out -> two(out, CLASS, of));
  }

  public int fieldOf(String owner, String field, String descriptor) {
    return member(FIELD, owner, field, descriptor);
  }

  public int methodOf(String owner, String method, String descriptor) {
    return member(METHOD, owner, method, descriptor);
  }

  private int member(int tag, String owner, String member, String descriptor) {
    int of = type(owner);
    int first = utf8(member);
    int second = utf8(descriptor);
    String both = member + ":" + descriptor;
    int named =
        constant(
            "n" + both,
            out -> {
              two(out, NAME_AND_TYPE, first);
              out.writeShort(second);
            });
    return constant(
        tag + owner + "." + both,
        out -> {
          two(out, tag, of);
          out.writeShort(named);
        });
  }

  private int constant(String key, Part part) {
    Integer known = numbers.get(key);
    if (known != null) {
      return known;
    }
    if (constants.size() == CONSTANTS_MAX) {
      throw new IllegalStateException("too many constants for a class");
    }
    constants.add(part);
    numbers.put(key, constants.size());
    return constants.size();
  }

  private static void two(DataOutputStream out, int tag, int index) throws IOException {
    out.writeByte(tag);
    out.writeShort(index);
  }

  public ClassFile field(int access, String field, String descriptor) {
    int first = utf8(field);
    int second = utf8(descriptor);
    fields.add(
        out -> {
          out.writeShort(access);
          out.writeShort(first);
          out.writeShort(second);
          out.writeShort(0);
        });
    return this;
  }

  /** A method with this code, which may use so many stack and local slots. */
  public ClassFile method(
      int access, String method, String descriptor, int stack, int locals, Part code) {
    int first = utf8(method);
    int second = utf8(descriptor);
    int attribute = utf8("Code");
    byte[] body = bytes(code);
    methods.add(
        out -> {
          out.writeShort(access);
          out.writeShort(first);
          out.writeShort(second);
          out.writeShort(1);
          out.writeShort(attribute);
          out.writeInt(body.length + 12);
          out.writeShort(stack);
          out.writeShort(locals);
          out.writeInt(body.length);
          out.write(body);
          out.writeShort(0);
          out.writeShort(0);
        });
    return this;
  }

  /** The constructor without parameters. */
  public ClassFile constructor() {
    int ofParent = methodOf(parent, "<init>", "()V");
    return method(
        PUBLIC,
        "<init>",
        "()V",
        1,
        1,
        out -> {
          out.writeByte(0x2A); // aload_0
          two(out, 0xB7, ofParent); // invokespecial
          out.writeByte(0xB1); // return
        });
  }

  public byte[] toBytes() {
    int self = type(name);
    int above = type(parent);
    int[] types = interfaces.stream().mapToInt(this::type).toArray();
    return bytes(
        out -> {
          out.writeInt(MAGIC);
          out.writeInt(VERSION);
          out.writeShort(constants.size() + 1);
          all(constants, out);
          out.writeShort(PUBLIC | SUPER);
          out.writeShort(self);
          out.writeShort(above);
          out.writeShort(types.length);
          for (int type : types) {
            out.writeShort(type);
          }
          out.writeShort(fields.size());
          all(fields, out);
          out.writeShort(methods.size());
          all(methods, out);
          out.writeShort(0);
        });
  }

  private static void all(List<Part> parts, DataOutputStream out) throws IOException {
    for (Part part : parts) {
      part.to(out);
    }
  }

  private static byte[] bytes(Part part) {
    ByteArrayOutputStream buffer = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(buffer)) {
      part.to(out);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return buffer.toByteArray();
  }
}
