package assay.supermarket.message;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a codec is compared with does the same. */
class PeerTest {
  @ParameterizedTest
  @EnumSource
  void aPeerBringsTheReportBack(Peer peer) throws Exception {
    ReceiptReport report = Receipts.report();
    assertThat(report.receipts().get(0).lines()).hasSize(60);
    assertThat(peer.read(peer.write(report))).isEqualTo(report);
  }
}
