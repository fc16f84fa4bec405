package assay.probes.classes;

/** A class loader that defines classes from bytes. */
public final class BytesLoader extends ClassLoader {
  public BytesLoader() {
    super(BytesLoader.class.getClassLoader());
  }

  /** Defines and links a class; one that is only defined has no methods that could run. */
  public Class<?> define(byte[] bytes) {
    Class<?> type = defineClass(null, bytes, 0, bytes.length);
    try {
      Class.forName(type.getName(), true, this);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
    return type;
  }
}
