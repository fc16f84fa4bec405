package assay.brokerage.web;

import jakarta.inject.Singleton;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.OptionalInt;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The session is a signed cookie that carries the account's number. The server keeps nothing for
 * it: no number of sessions, however they are abandoned, makes the heap grow. The key lives as long
 * as the server; after a restart customers log in again.
 */
@Singleton
class SessionCookie {
  private static final String NAME = "brokerage_session";
  private static final String ALGORITHM = "HmacSHA256";

  private final SecretKeySpec key;

  SessionCookie() {
    byte[] bytes = new byte[32];
    new SecureRandom().nextBytes(bytes);
    key = new SecretKeySpec(bytes, ALGORITHM);
  }

  /** Empty without a cookie, or with one that this server did not sign. */
  OptionalInt account(HttpServletRequest request) {
    Cookie[] cookies = request.getCookies();
    if (cookies == null) {
      return OptionalInt.empty();
    }
    for (Cookie cookie : cookies) {
      if (cookie.getName().equals(NAME)) {
        return verified(cookie.getValue());
      }
    }
    return OptionalInt.empty();
  }

  void begin(HttpServletResponse response, int account) {
    response.addHeader(
        "Set-Cookie", NAME + "=" + signed(account) + "; Path=/; HttpOnly; SameSite=Strict");
  }

  void end(HttpServletResponse response) {
    response.addHeader("Set-Cookie", NAME + "=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
  }

  String signed(int account) {
    String text = Integer.toString(account);
    return text + "." + signature(text);
  }

  OptionalInt verified(String value) {
    int dot = value.indexOf('.');
    if (dot < 1) {
      return OptionalInt.empty();
    }
    String text = value.substring(0, dot);
    byte[] given = value.substring(dot + 1).getBytes(StandardCharsets.US_ASCII);
    byte[] right = signature(text).getBytes(StandardCharsets.US_ASCII);
    return MessageDigest.isEqual(given, right)
        ? OptionalInt.of(Integer.parseInt(text))
        : OptionalInt.empty();
  }

  private String signature(String text) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      byte[] signature = mac.doFinal(text.getBytes(StandardCharsets.US_ASCII));
      return Base64.getUrlEncoder().withoutPadding().encodeToString(signature);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has " + ALGORITHM, e);
    }
  }
}
