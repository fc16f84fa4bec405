package assay.supermarket.message;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What a record is made of, looked up once: its components in their order, how each is read, and
 * how a record is made of them. Components are {@code long}, {@code int}, {@code boolean}, {@code
 * String}, or lists of records, of {@code String} or of {@code Long}.
 */
final class RecordShape {
  /** Messages are flat; a record that contains itself would have no end. */
  private static final int DEPTH_MAX = 4;

  /** What a component, or an element of a list, is. */
  enum Kind {
    LONG,
    INT,
    BOOLEAN,
    STRING,
    RECORD,
    LIST
  }

  /**
   * @param name of the component; of an element of a list, what it is called in XML
   * @param element what a list's elements are, null for all other kinds
   * @param shape of a record, null for all other kinds
   */
  record Part(String name, Kind kind, Part element, RecordShape shape, MethodHandle accessor) {}

  private final Class<?> type;
  private final List<Part> parts;
  private final MethodHandle constructor;

  private RecordShape(Class<?> type, int depth) {
    if (!type.isRecord() || depth > DEPTH_MAX) {
      throw new IllegalArgumentException(type.getName() + " is not a record, or nested too deeply");
    }
    this.type = type;
    RecordComponent[] components = type.getRecordComponents();
    this.parts = Arrays.stream(components).map(component -> part(component, depth)).toList();
    Class<?>[] types =
        Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
    try {
      this.constructor =
          MethodHandles.lookup()
              .findConstructor(type, MethodType.methodType(void.class, types))
              .asSpreader(Object[].class, types.length)
              .asType(MethodType.methodType(Object.class, Object[].class));
    } catch (ReflectiveOperationException e) {
      throw new IllegalArgumentException(type.getName() + " cannot be made from here", e);
    }
  }

  static RecordShape of(Class<?> type) {
    return new RecordShape(type, 1);
  }

  Class<?> type() {
    return type;
  }

  /** The record's name in XML. */
  String name() {
    return type.getSimpleName();
  }

  List<Part> parts() {
    return parts;
  }

  /** The value of a component. */
  static Object get(Part part, Object record) {
    try {
      return part.accessor().invokeExact(record);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("an accessor of a record threw " + e, e);
    }
  }

  /** A record of these values, one for each part. */
  Object make(Object[] values) {
    try {
      return constructor.invokeExact(values);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalArgumentException("the constructor of " + name() + " threw " + e, e);
    }
  }

  /** Nothing in a message is null: there is no way to say it in XML. */
  void requireWhole(Object record) throws MessageException {
    for (Part part : parts) {
      Object value = get(part, record);
      if (value == null) {
        throw new MessageException(name() + " has no " + part.name());
      }
      if (part.kind() == Kind.LIST) {
        requireWhole(part, (List<?>) value);
      }
    }
  }

  private void requireWhole(Part part, List<?> elements) throws MessageException {
    for (Object element : elements) {
      if (element == null) {
        throw new MessageException(name() + " has a null among its " + part.name());
      }
      if (part.element().kind() == Kind.RECORD) {
        part.element().shape().requireWhole(element);
      }
    }
  }

  /** This shape and those within it. */
  List<RecordShape> all() {
    List<RecordShape> shapes = new ArrayList<>(List.of(this));
    for (Part part : parts) {
      if (part.kind() == Kind.LIST && part.element().kind() == Kind.RECORD) {
        shapes.addAll(part.element().shape().all());
      }
    }
    return shapes;
  }

  private static Part part(RecordComponent component, int depth) {
    MethodHandle accessor;
    try {
      accessor =
          MethodHandles.lookup()
              .unreflect(component.getAccessor())
              .asType(MethodType.methodType(Object.class, Object.class));
    } catch (IllegalAccessException e) {
      throw new IllegalArgumentException(component + " cannot be read from here", e);
    }
    String name = component.getName();
    if (component.getType() == List.class) {
      Part element = element(component, depth);
      return new Part(name, Kind.LIST, element, null, accessor);
    }
    return new Part(name, scalar(component.getType(), component), null, null, accessor);
  }

  private static Part element(RecordComponent component, int depth) {
    Type[] arguments =
        component.getGenericType() instanceof ParameterizedType list
            ? list.getActualTypeArguments()
            : new Type[0];
    if (arguments.length != 1 || !(arguments[0] instanceof Class<?> type)) {
      throw new IllegalArgumentException(component + " does not say of what it is a list");
    }
    if (type.isRecord()) {
      RecordShape shape = new RecordShape(type, depth + 1);
      return new Part(shape.name(), Kind.RECORD, null, shape, null);
    }
    if (type == Long.class) {
      return new Part("item", Kind.LONG, null, null, null);
    }
    if (type == String.class) {
      return new Part("item", Kind.STRING, null, null, null);
    }
    throw new IllegalArgumentException(component + ": no list of this can be sent");
  }

  private static Kind scalar(Class<?> type, RecordComponent component) {
    if (type == long.class) {
      return Kind.LONG;
    } else if (type == int.class) {
      return Kind.INT;
    } else if (type == boolean.class) {
      return Kind.BOOLEAN;
    } else if (type == String.class) {
      return Kind.STRING;
    }
    throw new IllegalArgumentException(component + ": this type cannot be sent");
  }
}
