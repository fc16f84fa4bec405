package assay.brokerage.web;

import jakarta.el.ELContext;
import jakarta.el.ELException;
import jakarta.el.ELResolver;
import jakarta.el.PropertyNotFoundException;
import jakarta.el.PropertyNotWritableException;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.HashMap;
import java.util.Map;

/**
 * Lets a page write {@code order.price} for a record's component. Expression Language 5 knows bean
 * properties only; version 6 brings this of its own.
 */
final class RecordResolver extends ELResolver {
  private static final ClassValue<Map<String, Method>> ACCESSORS =
      new ClassValue<>() {
        @Override
        protected Map<String, Method> computeValue(Class<?> type) {
          Map<String, Method> accessors = new HashMap<>();
          for (RecordComponent component : type.getRecordComponents()) {
            accessors.put(component.getName(), component.getAccessor());
          }
          return accessors;
        }
      };

  @Override
  public Object getValue(ELContext context, Object base, Object property) {
    if (!(base instanceof Record)) {
      return null;
    }
    Method accessor = accessor(base, property);
    context.setPropertyResolved(base, property);
    try {
      return accessor.invoke(base);
    } catch (ReflectiveOperationException e) {
      throw new ELException(e);
    }
  }

  @Override
  public Class<?> getType(ELContext context, Object base, Object property) {
    if (!(base instanceof Record)) {
      return null;
    }
    context.setPropertyResolved(base, property);
    return accessor(base, property).getReturnType();
  }

  @Override
  public void setValue(ELContext context, Object base, Object property, Object value) {
    if (base instanceof Record) {
      throw new PropertyNotWritableException("a record does not change: " + property);
    }
  }

  @Override
  public boolean isReadOnly(ELContext context, Object base, Object property) {
    return base instanceof Record;
  }

  @Override
  public Class<?> getCommonPropertyType(ELContext context, Object base) {
    return base instanceof Record ? String.class : null;
  }

  private static Method accessor(Object base, Object property) {
    Method accessor = ACCESSORS.get(base.getClass()).get(String.valueOf(property));
    if (accessor == null) {
      throw new PropertyNotFoundException(base.getClass().getName() + " has no " + property);
    }
    return accessor;
  }
}
