package assay.supermarket.web;

import org.eclipse.jetty.util.Fields;

/** The query parameters of a request, checked. */
record Parameters(Fields fields) {
  /** A parameter is missing or wrong. */
  static final class Wrong extends RuntimeException {
    private static final long serialVersionUID = 1;

    Wrong(String message) {
      super(message, null, false, false);
    }
  }

  long number(String name) {
    String text = fields.getValue(name);
    if (text == null) {
      throw new Wrong("the parameter " + name + " is missing");
    }
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw new Wrong("the parameter " + name + " is no whole number");
    }
  }

  int smallNumber(String name) {
    long number = number(name);
    if (number < 0 || number > Integer.MAX_VALUE) {
      throw new Wrong("the parameter " + name + " is out of range");
    }
    return (int) number;
  }

  int smallNumber(String name, int otherwise) {
    return fields.getValue(name) == null ? otherwise : smallNumber(name);
  }
}
