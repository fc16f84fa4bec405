package assay.supermarket.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CompanyKeysTest {
  @TempDir private Path folder;

  @Test
  void thoseWhoComeAtOnceHaveTheSameKeys() throws Exception {
    int jvms = 8;
    CyclicBarrier together = new CyclicBarrier(jvms);
    ExecutorService threads = Executors.newFixedThreadPool(jvms);
    try {
      Callable<CompanyKeys> comer =
          () -> {
            together.await();
            return CompanyKeys.sharedBy(folder.resolve("keys"));
          };
      List<CompanyKeys> keys = new ArrayList<>();
      for (Future<CompanyKeys> future :
          threads.invokeAll(List.of(comer, comer, comer, comer, comer, comer, comer, comer))) {
        keys.add(future.get());
      }
      assertThat(keys).containsOnly(keys.get(0));
    } finally {
      threads.shutdownNow();
    }
    try (var files = Files.list(folder)) {
      assertThat(files).containsExactly(folder.resolve("keys"));
    }
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve("keys"))))
        .isEqualTo("rw-------");
  }

  @Test
  void aFileThatOthersCanReadIsRefused() throws IOException {
    Path file = folder.resolve("keys");
    CompanyKeys.sharedBy(file);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
    assertThatThrownBy(() -> CompanyKeys.sharedBy(file)).hasMessageContaining("0600");
  }

  @Test
  void aFileOfOtherContentIsRefused() throws IOException {
    Path file = folder.resolve("keys");
    CompanyKeys.sharedBy(file);
    for (String content : List.of("", "x".repeat(128), "00".repeat(63))) {
      Files.writeString(file, content);
      assertThatThrownBy(() -> CompanyKeys.sharedBy(file))
          .hasMessageContaining("not a file of keys");
    }
  }

  @Test
  void freshKeysAreNobodyElses() {
    assertThat(CompanyKeys.fresh()).isNotEqualTo(CompanyKeys.fresh());
  }
}
