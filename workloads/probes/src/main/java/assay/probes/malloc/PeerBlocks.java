package assay.probes.malloc;

import assay.probes.Held;
import assay.probes.Holding;
import java.util.ArrayList;
import java.util.List;

/**
 * Blocks of malloc that native code allocated for Java objects, each of which knows its address as
 * a number: what bindings to native libraries do. Nothing native points at them.
 */
public final class PeerBlocks implements Holding {
  private final NativeLibrary library;
  private final int bytes;
  private final List<Peer> peers = new ArrayList<>();
  private long usableBytes;

  public PeerBlocks(NativeLibrary library, int bytes) {
    this.library = library;
    this.bytes = bytes;
  }

  @Override
  public void grow(int count) {
    for (int i = 0; i < count; i++) {
      Peer peer = new Peer(library.allocate(bytes));
      usableBytes += library.usable(peer.address);
      peers.add(peer);
    }
  }

  @Override
  public void release() {
    peers.forEach(peer -> library.free(peer.address));
    peers.clear();
    usableBytes = 0;
  }

  @Override
  public Held held() {
    return new Held(peers.size(), (long) peers.size() * bytes).with("usable_bytes", usableBytes);
  }

  /** An object with a native peer. */
  private record Peer(long address) {}
}
