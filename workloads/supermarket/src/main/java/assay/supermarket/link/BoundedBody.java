package assay.supermarket.link;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;

/** The bytes of an answer, up to a bound. The JDK has such a reader from release 25 on. */
final class BoundedBody implements HttpResponse.BodySubscriber<byte[]> {
  private final int bytesMax;
  private final CompletableFuture<byte[]> whole = new CompletableFuture<>();
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private Flow.Subscription subscription;

  BoundedBody(int bytesMax) {
    this.bytesMax = bytesMax;
  }

  @Override
  public CompletionStage<byte[]> getBody() {
    return whole;
  }

  @Override
  public void onSubscribe(Flow.Subscription given) {
    subscription = given;
    given.request(Long.MAX_VALUE);
  }

  @Override
  public void onNext(List<ByteBuffer> buffers) {
    for (ByteBuffer buffer : buffers) {
      if (buffer.remaining() > bytesMax - bytes.size()) {
        subscription.cancel();
        whole.completeExceptionally(
            new IOException("an answer of more than " + bytesMax + " bytes"));
        return;
      }
      byte[] piece = new byte[buffer.remaining()];
      buffer.get(piece);
      bytes.writeBytes(piece);
    }
  }

  @Override
  public void onError(Throwable failure) {
    whole.completeExceptionally(failure);
  }

  @Override
  public void onComplete() {
    whole.complete(bytes.toByteArray());
  }
}
