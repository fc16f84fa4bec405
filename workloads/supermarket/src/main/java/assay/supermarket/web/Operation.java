package assay.supermarket.web;

/** What can be asked for. */
enum Operation {
  IN_STORE_PURCHASE("in_store_purchase", "POST", "/purchase/in-store"),
  ONLINE_PURCHASE("online_purchase", "POST", "/purchase/online"),
  INSTALMENT("instalment", "POST", "/instalment"),
  PRODUCT_RETURN("product_return", "POST", "/return"),
  ASSOCIATION_OF_PRODUCT("association_of_product", "GET", "/association/product"),
  BUYING_BEHAVIOUR("buying_behaviour", "GET", "/behaviour"),
  BUSINESS_REPORT("business_report", "GET", "/business-report"),
  ASSOCIATION_OF_CATEGORY("association_of_category", "GET", "/association/category");

  private final String label;
  private final String method;
  private final String path;

  Operation(String label, String method, String path) {
    this.label = label;
    this.method = method;
    this.path = path;
  }

  /** Its name in statistics. */
  String label() {
    return label;
  }

  String method() {
    return method;
  }

  String path() {
    return path;
  }
}
