package assay.probes.buffers;

import assay.probes.Held;
import assay.probes.Holding;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * Files of the temporary folder, mapped shared and written to page by page. They are deleted at the
 * end.
 */
public final class MappedFiles implements Holding {
  private final int bytes;
  private final List<MappedByteBuffer> mapped = new ArrayList<>();
  private final BufferPool pool = BufferPool.named("mapped");

  public MappedFiles(int bytes) {
    this.bytes = bytes;
    // What making and mapping a file loads is there before anything is counted; the collector
    // unmaps this one.
    map(1);
    System.gc();
  }

  @Override
  public void grow(int count) {
    for (int i = 0; i < count; i++) {
      mapped.add(map(bytes));
    }
  }

  private MappedByteBuffer map(int size) {
    try {
      Path file = Files.createTempFile("probe-", ".mapped");
      file.toFile().deleteOnExit();
      try (FileChannel channel =
          FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
        MappedByteBuffer buffer = channel.map(MapMode.READ_WRITE, 0, size);
        Pages.touch(buffer);
        return buffer;
      }
    } catch (IOException e) {
      throw new UncheckedIOException("a file could not be mapped: " + e.getMessage(), e);
    }
  }

  @Override
  public void release() {
    mapped.clear();
  }

  @Override
  public void touch() {
    mapped.forEach(Pages::touch);
  }

  @Override
  public boolean isSettled() {
    return pool.count() <= mapped.size();
  }

  @Override
  public Held held() {
    return new Held(mapped.size(), (long) mapped.size() * bytes);
  }
}
