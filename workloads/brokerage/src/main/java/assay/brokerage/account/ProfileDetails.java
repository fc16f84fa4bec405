package assay.brokerage.account;

import assay.brokerage.Limits;
import assay.brokerage.Refused;
import assay.brokerage.Refused.Reason;

/** What a customer says of herself; only made with texts that may be stored. */
public record ProfileDetails(String fullName, String address, String email, String creditCard) {
  public ProfileDetails {
    require("name", fullName);
    require("address", address);
    require("email", email);
    require("credit_card", creditCard);
    if (email.indexOf('@') < 1 || email.indexOf('@') == email.length() - 1) {
      throw new Refused(Reason.INVALID, "email: write it as name@host");
    }
  }

  private static void require(String field, String text) {
    if (text == null || text.isBlank()) {
      throw new Refused(Reason.INVALID, field + ": is missing");
    }
    if (text.length() > Limits.TEXT_MAX) {
      throw new Refused(
          Reason.INVALID, field + ": has more than " + Limits.TEXT_MAX + " characters");
    }
  }
}
