package assay.chat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** Stands between one plain client and the server, and spoils what the server sends. */
final class Spoiler implements AutoCloseable {
  enum Fault {
    NONE,
    LOSS,
    LOSS_OF_THE_LAST,
    DUPLICATION,
    REORDERING,
    CHANGE
  }

  /** The delivery that is spoiled, of those from one sender. */
  private static final String SPOILED = " user-0-0 7 ";

  private static final String NEXT = " user-0-0 8 ";
  private static final String LAST = " user-0-0 100 ";

  private final ServerSocket entrance;
  private final Socket server;
  private final Fault fault;
  private Socket client;
  private String held;

  Spoiler(int port, Fault fault) throws IOException {
    this.fault = fault;
    entrance = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    server = new Socket(InetAddress.getLoopbackAddress(), port);
    new Thread(this::serve, "spoiler").start();
  }

  int port() {
    return entrance.getLocalPort();
  }

  private void serve() {
    try {
      client = entrance.accept();
      new Thread(this::hearClient, "spoiler-client").start();
      BufferedReader reader =
          new BufferedReader(
              new InputStreamReader(server.getInputStream(), StandardCharsets.UTF_8));
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        pass(line);
      }
    } catch (IOException e) {
      // The test is over.
    }
  }

  private void hearClient() {
    try {
      client.getInputStream().transferTo(server.getOutputStream());
    } catch (IOException e) {
      // The test is over.
    }
  }

  private void pass(String line) throws IOException {
    boolean spoiled = line.contains(SPOILED);
    switch (fault) {
      case LOSS -> write(spoiled ? "" : line);
      case LOSS_OF_THE_LAST -> write(line.contains(LAST) ? "" : line);
      case DUPLICATION -> write(spoiled ? line + "\n" + line : line);
      case CHANGE -> write(spoiled ? line.replace("user-0-0-7-", "user-0-0-6-") : line);
      case REORDERING -> {
        if (spoiled) {
          held = line;
        } else {
          write(line.contains(NEXT) ? line + "\n" + held : line);
        }
      }
      case NONE -> write(line);
    }
  }

  private void write(String lines) throws IOException {
    OutputStream out = client.getOutputStream();
    if (!lines.isEmpty()) {
      out.write((lines + "\n").getBytes(StandardCharsets.UTF_8));
    }
  }

  @Override
  public void close() throws IOException {
    entrance.close();
    server.close();
  }
}
