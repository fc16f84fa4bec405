package assay.airline.web;

import assay.airline.Refused;
import assay.airline.peer.PeerFailed;
import com.mongodb.MongoException;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/** Gives each exception its status; no failure has status 200. */
public final class Failures {
  private static final Logger LOG = System.getLogger(Failures.class.getName());

  private Failures() {}

  /** What was refused. */
  public static final class OfRefused implements ExceptionMapper<Refused> {
    @Override
    public Response toResponse(Refused refused) {
      int status =
          switch (refused.reason()) {
            case INVALID -> 400;
            case NOT_ALLOWED -> 403;
            case NOT_FOUND -> 404;
            case CONFLICT -> 409;
            case BUSY -> 503;
          };
      return JsonAnswer.problem(status, refused.getMessage());
    }
  }

  /** Another service that did not answer. */
  public static final class OfPeer implements ExceptionMapper<PeerFailed> {
    @Override
    public Response toResponse(PeerFailed failed) {
      LOG.log(Level.WARNING, failed.getMessage());
      return JsonAnswer.problem(503, failed.getMessage());
    }
  }

  /** A store that did not answer. */
  public static final class OfStore implements ExceptionMapper<MongoException> {
    @Override
    public Response toResponse(MongoException failed) {
      LOG.log(Level.WARNING, "the store failed", failed);
      return JsonAnswer.problem(503, "the store failed: " + failed.getMessage());
    }
  }

  /** A JVM without memory. Nothing is logged, which takes some. */
  public static final class OfMemory implements ExceptionMapper<OutOfMemoryError> {
    @Override
    public Response toResponse(OutOfMemoryError failed) {
      return JsonAnswer.problem(
          503,
          "the service has no memory left (" + failed + "): its JVM needs a larger heap, -Xmx");
    }
  }
}
