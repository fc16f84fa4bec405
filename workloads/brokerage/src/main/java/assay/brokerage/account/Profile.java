package assay.brokerage.account;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;

/** Who the customer is; the row has the account's id. */
@Entity
@Table(name = "profile")
public class Profile {
  @Id private int id;

  @Column(name = "full_name")
  private String fullName;

  private String address;
  private String email;

  @Column(name = "credit_card")
  private String creditCard;

  protected Profile() {}

  public void change(ProfileDetails details) {
    fullName = details.fullName();
    address = details.address();
    email = details.email();
    creditCard = details.creditCard();
  }

  public ProfileDetails details() {
    return new ProfileDetails(fullName, address, email, creditCard);
  }
}
