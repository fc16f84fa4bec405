package assay.airline.auth;

import static org.assertj.core.api.Assertions.assertThat;

import assay.airline.token.KeyFolder;
import assay.airline.token.TokenSigner;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TokensTest {
  @TempDir Path scratch;

  @Test
  void onlyWhoKnowsTheWholeSecretIsAService() throws Exception {
    TokenSigner signer = new TokenSigner(new KeyFolder(scratch.resolve("keys")).privateKey());
    Tokens tokens = new Tokens(signer, "whole secret");
    assertThat(tokens.isSecret("whole secret")).isTrue();
    assertThat(tokens.isSecret("whole")).isFalse();
    assertThat(tokens.isSecret("")).isFalse();
    assertThat(tokens.ofService()).isNotEqualTo(tokens.ofCustomer("c7"));
  }
}
