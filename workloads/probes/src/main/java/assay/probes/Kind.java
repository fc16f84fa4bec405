package assay.probes;

import assay.probes.buffers.DirectBuffers;
import assay.probes.buffers.FreedBuffers;
import assay.probes.buffers.MappedFiles;
import assay.probes.classes.CompiledCode;
import assay.probes.classes.GeneratedClasses;
import assay.probes.classes.LeakedLoaders;
import assay.probes.classes.Symbols;
import assay.probes.heap.InternedStrings;
import assay.probes.heap.NativeReferences;
import assay.probes.heap.Objects;
import assay.probes.malloc.FreedArenas;
import assay.probes.malloc.HugePages;
import assay.probes.malloc.LibraryBlocks;
import assay.probes.malloc.NativeLibrary;
import assay.probes.malloc.PeerBlocks;
import assay.probes.malloc.Segments;
import assay.probes.malloc.UnsafeBlocks;
import assay.probes.reflection.Accessors;
import assay.probes.threads.TouchedStacks;
import assay.probes.threads.WaitingThreads;
import assay.probes.zip.Deflaters;
import assay.probes.zip.Inflaters;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Kinds of memory. The first amount is how many are held from the start; it may be 0. README.md
 * says what each kind's {@code bytes} are and what comes on top.
 */
public enum Kind {
  DIRECT("COUNT BYTES"),
  FREED("COUNT BYTES"),
  MAPPED("COUNT BYTES"),
  THREADS("COUNT STACK_BYTES"),
  WAITING("COUNT"),
  CLASSES("COUNT METHODS"),
  LOADERS("COUNT CLASSES"),
  MALLOC("COUNT BYTES"),
  STATICS("COUNT BYTES"),
  PEERS("COUNT BYTES"),
  UNSAFE("COUNT BYTES"),
  SEGMENTS("COUNT BYTES"),
  ARENAS("THREADS BLOCKS BYTES"),
  HUGE("COUNT BYTES"),
  DEFLATERS("COUNT"),
  INFLATERS("COUNT"),
  CODE("COUNT"),
  SYMBOLS("COUNT LENGTH"),
  INTERNED("COUNT LENGTH"),
  HEAP("COUNT BYTES"),
  REFERENCES("COUNT BYTES"),
  REFLECTION("COUNT CALLS method|handle");

  private final String amounts;

  Kind(String amounts) {
    this.amounts = amounts;
  }

  /** The kind as users write it. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** How it is asked for. */
  public String usage() {
    return word() + " " + amounts;
  }

  public static Kind named(String word) {
    return Arrays.stream(values())
        .filter(kind -> kind.word().equals(word))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("unknown kind " + word));
  }

  /** Makes the holding and lets it grow to its first amount. */
  public Holding start(List<String> words) {
    if (words.size() != amounts.split(" ", -1).length) {
      throw new IllegalArgumentException("asked for as: " + usage());
    }
    Amounts given = new Amounts(words);
    Holding holding = make(given);
    holding.grow(given.number(0));
    return holding;
  }

  private Holding make(Amounts a) {
    return switch (this) {
      case DIRECT -> new DirectBuffers(a.size(1));
      case FREED -> new FreedBuffers(a.size(1));
      case MAPPED -> new MappedFiles(a.size(1));
      case THREADS -> new TouchedStacks(NativeLibrary.load(), a.size(1));
      case WAITING -> new WaitingThreads();
      case CLASSES -> new GeneratedClasses(a.number(1));
      case LOADERS -> new LeakedLoaders(a.number(1));
      case MALLOC -> new LibraryBlocks(NativeLibrary.load(), LibraryBlocks.Place.TABLE, a.size(1));
      case STATICS ->
          new LibraryBlocks(NativeLibrary.load(), LibraryBlocks.Place.STATICS, a.size(1));
      case PEERS -> new PeerBlocks(NativeLibrary.load(), a.size(1));
      case UNSAFE -> new UnsafeBlocks(a.size(1));
      case SEGMENTS -> new Segments(a.size(1));
      case ARENAS -> new FreedArenas(NativeLibrary.load(), a.number(1), a.size(2));
      case HUGE -> new HugePages(NativeLibrary.load(), a.size(1));
      case DEFLATERS -> new Deflaters(NativeLibrary.loadIfNamed());
      case INFLATERS -> new Inflaters(NativeLibrary.loadIfNamed());
      case CODE -> new CompiledCode();
      case SYMBOLS -> new Symbols(a.size(1));
      case INTERNED -> new InternedStrings(a.size(1));
      case HEAP -> new Objects(a.size(1));
      case REFERENCES -> new NativeReferences(NativeLibrary.load(), a.size(1));
      case REFLECTION -> new Accessors(a.number(1), a.word(2));
    };
  }
}
