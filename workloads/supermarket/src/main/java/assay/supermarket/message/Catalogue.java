package assay.supermarket.message;

import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/** The types of messages that are sent and taken; there are no others. */
public final class Catalogue {
  private final Map<String, MessageType> byName = new LinkedHashMap<>();
  private final Map<Class<? extends Message>, MessageType> byClass = new LinkedHashMap<>();

  /** These types, each in the form that it declares. */
  public static Catalogue of(Collection<Class<? extends Message>> types) {
    return new Catalogue(types, Form::declaredBy);
  }

  /** These types, each in the form that the function gives it. */
  Catalogue(
      Collection<Class<? extends Message>> types, Function<Class<? extends Message>, Form> forms) {
    for (Class<? extends Message> type : types) {
      MessageType entry = new MessageType(type, forms.apply(type));
      if (byName.put(entry.name(), entry) != null) {
        throw new IllegalArgumentException("two types of messages are called " + entry.name());
      }
      byClass.put(type, entry);
    }
  }

  public MessageType typeOf(Message message) throws MessageException {
    MessageType type = byClass.get(message.getClass());
    if (type == null) {
      throw new MessageException(message.getClass().getName() + " is no type of message here");
    }
    return type;
  }

  public MessageType typeNamed(String name) throws MessageException {
    MessageType type = byName.get(name);
    if (type == null) {
      throw new MessageException("unknown type of message " + name);
    }
    return type;
  }

  public Collection<MessageType> types() {
    return Collections.unmodifiableCollection(byClass.values());
  }
}
