package assay.supermarket.web;

import assay.supermarket.link.GroupLink;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.Promise;

/** Where messages of other groups come in; all else is left to the next handler. */
public final class LinkEntrance extends Handler.Abstract.NonBlocking {
  private final GroupLink link;

  public LinkEntrance(GroupLink link) {
    this.link = link;
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback) {
    if (!Request.getPathInContext(request).equals(GroupLink.PATH)) {
      return false;
    }
    if (!request.getMethod().equals("POST") || request.getLength() > GroupLink.BYTES_MAX) {
      Response.writeError(request, response, callback, HttpStatus.BAD_REQUEST_400);
      return true;
    }
    CompletableFuture<byte[]> envelope = new CompletableFuture<>();
    Content.Source.asByteArrayAsync(
        request, GroupLink.BYTES_MAX, Promise.Invocable.toPromise(envelope));
    var unused =
        envelope
            .thenCompose(link::receive)
            .whenComplete(
                (answer, failure) -> {
                  if (failure == null) {
                    response.getHeaders().put(HttpHeader.CONTENT_TYPE, "application/octet-stream");
                    response.write(true, ByteBuffer.wrap(answer), callback);
                  } else {
                    Response.writeError(request, response, callback, HttpStatus.BAD_REQUEST_400);
                  }
                });
    return true;
  }
}
