package assay.probes.malloc;

import java.nio.file.Path;
import java.util.Optional;

/**
 * The C library of the probes ({@code native/probe.c}); its path is the system property {@value
 * #PROPERTY}.
 */
public final class NativeLibrary {
  public static final String PROPERTY = "probe.native";

  private NativeLibrary(Path path) {
    System.load(path.toAbsolutePath().toString());
  }

  /** Loads it from where the property says. */
  public static NativeLibrary load() {
    return loadIfNamed()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "this kind needs -D" + PROPERTY + "=PATH of libprobe.so"));
  }

  /** The same, or nothing when the property is not set. */
  public static Optional<NativeLibrary> loadIfNamed() {
    String path = System.getProperty(PROPERTY);
    return path == null ? Optional.empty() : Optional.of(new NativeLibrary(Path.of(path)));
  }

  /** Allocates and keeps blocks; returns the sum of their usable sizes. */
  native long hold(int count, long bytes);

  /** The same, with pointers in a static array of the library only; 16384 at most. */
  native long holdInStatics(int count, long bytes);

  /** A block that is the caller's. */
  native long allocate(long bytes);

  /** What malloc gave for such a block. */
  native long usable(long address);

  /** Gives such a block back. */
  native void free(long address);

  /** Makes a global reference to an object, which keeps it alive. */
  public native long reference(Object object);

  /** Deletes such a reference. */
  public native void dropReference(long reference);

  /** Frees all blocks that are kept. */
  native void freeAll();

  /** Allocates blocks in this thread's arena and frees them below a small one that stays. */
  native long fillAndFree(int count, long bytes);

  /** Writes to the calling thread's stack; returns how much of it is touched from its top. */
  public native long touchStack(long bytes);

  /** Address of a mapping that asks for huge pages. */
  native long mapHuge(long bytes);

  /** Gives a mapping back. */
  native void unmap(long address, long bytes);

  /** Bytes in use by glibc's account; -1 under another allocator. */
  public native long mallocInUse();
}
