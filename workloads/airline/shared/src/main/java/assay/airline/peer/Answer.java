package assay.airline.peer;

import jakarta.json.Json;
import jakarta.json.JsonException;
import jakarta.json.JsonObject;
import jakarta.json.JsonReader;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;

/** What another service answered. */
public final class Answer {
  private static final int DESCRIBED_CHARS_MAX = 200;

  private final int status;
  private final String contentType;
  private final byte[] body;

  /** The bytes are not copied: whoever makes an answer gives them away. */
  public Answer(int status, String contentType, byte[] body) {
    this.status = status;
    this.contentType = contentType;
    this.body = body;
  }

  public int status() {
    return status;
  }

  public String contentType() {
    return contentType;
  }

  public byte[] body() {
    return body;
  }

  /** Its status, and what it says, for whoever asks why there was no other answer. */
  public String described() {
    String text = new String(body, StandardCharsets.UTF_8).strip();
    String most = text.substring(0, Math.min(text.length(), DESCRIBED_CHARS_MAX));
    return "status " + status + (most.isEmpty() ? "" : ": " + most);
  }

  public JsonObject json() throws PeerFailed {
    try (JsonReader reader = Json.createReader(new ByteArrayInputStream(body))) {
      return reader.readObject();
    } catch (JsonException e) {
      throw new PeerFailed("the answer with status " + status + " is not a JSON object", e);
    }
  }
}
