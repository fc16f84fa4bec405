import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.Deflater;

/** A server at work: it fills most of its heap, makes garbage, compiles, and uses threads and native memory. */
public class Loaded {
  static final Map<String, byte[]> KEPT = new ConcurrentHashMap<>();
  static final List<ByteBuffer> BUFFERS = new ArrayList<>();

  public static void main(String[] arguments) throws Exception {
    for (int i = 0; i < 16; i++) {
      ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 20);
      for (int at = 0; at < buffer.capacity(); at += 4096) {
        buffer.put(at, (byte) 1);
      }
      BUFFERS.add(buffer);
    }
    // Live: 60 % of the largest heap.
    int count = (int) (Runtime.getRuntime().maxMemory() * 6 / 10 / 2048);
    var pool = Executors.newFixedThreadPool(24);
    for (int round = 0; round < 6; round++) {
      List<java.util.concurrent.Future<Integer>> asked = new ArrayList<>();
      for (int part = 0; part < 24; part++) {
        int own = part;
        asked.add(pool.submit(() -> work(own, count / 24)));
      }
      for (var answer : asked) {
        answer.get();
      }
    }
    System.out.println("waiting");
    System.in.read();
    pool.shutdown();
    pool.awaitTermination(1, TimeUnit.MINUTES);
  }

  static int work(int part, int count) {
    for (int i = 0; i < count; i++) {
      KEPT.put(part + "/" + i, new byte[1900]);
    }
    Map<Integer, String> words =
        IntStream.range(0, 4000).boxed().collect(Collectors.groupingBy(i -> i % 100, Collectors.mapping(String::valueOf, Collectors.joining(" "))));
    byte[] text = words.toString().getBytes();
    Deflater deflater = new Deflater();
    deflater.setInput(text);
    deflater.finish();
    int packed = deflater.deflate(new byte[text.length]);
    deflater.end();
    return packed;
  }
}
