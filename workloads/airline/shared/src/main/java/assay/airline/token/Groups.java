package assay.airline.token;

/** The groups that a token may name, which are the roles of the resources. */
public final class Groups {
  /** A customer who logged in. */
  public static final String CUSTOMER = "customer";

  /** A service that asks another one. */
  public static final String SERVICE = "service";

  private Groups() {}
}
