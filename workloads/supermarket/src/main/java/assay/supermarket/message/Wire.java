package assay.supermarket.message;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** How a type of message travels. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface Wire {
  /** The form of its text or bytes. */
  Format format();

  /** Whether it is signed and encrypted. */
  boolean secure() default false;

  /** Whether it is compressed, before it is encrypted. */
  boolean compressed() default false;

  /** The two forms. */
  enum Format {
    /** Text that is checked against a schema. */
    XML,
    /** Fields one after another. */
    BINARY
  }
}
