package assay.probes.jmh;

import assay.jmh.CpuTime;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Isolates what it takes to follow a reference: load, decode, use as the address of the next load.
 * The nodes form one shuffled ring, so each load waits for the one before it and none is guessed;
 * one operation is one step.
 *
 * <p>A node has one reference and an int: 16 bytes with compact headers, 24 where references or
 * class pointers are compressed, 32 where both are full (and with 16-byte alignment). The number of
 * nodes is the same in every mode, the working set is not:
 *
 * <ul>
 *   <li>8,192 nodes, 128 to 256 KiB, fit every L2 cache in every mode: only decoding differs;
 *   <li>262,144 nodes, 4 to 8 MiB, fit an L3 cache: decoding hides behind its latency;
 *   <li>8,388,608 nodes, 128 to 256 MiB, are beyond most caches and beyond what the TLB reaches:
 *       what counts is how many nodes share a line and a page.
 * </ul>
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class PointerChase extends CpuTime.Counted {
  private static final int STEPS = 4096;

  @Param({"8192", "262144", "8388608"})
  public int nodes;

  private Node at;
  private long steps;

  static final class Node {
    Node next;
    int place;
  }

  @Setup
  public void link() {
    LiveHeap.Before before = LiveHeap.before();
    at = ring(nodes);
    before.with(at);
  }

  /**
   * The node at place 0 of a ring whose places follow each other in an order unlike that of their
   * addresses.
   */
  static Node ring(int count) {
    Node[] byAddress = new Node[count];
    for (int i = 0; i < count; i++) {
      byAddress[i] = new Node();
    }
    int[] order = Shuffled.numbers(count);
    for (int place = 0; place < count; place++) {
      Node node = byAddress[order[place]];
      node.place = place;
      node.next = byAddress[order[place + 1 == count ? 0 : place + 1]];
    }
    return byAddress[order[0]];
  }

  @Benchmark
  @OperationsPerInvocation(STEPS)
  public Node follow() {
    Node node = at;
    for (int i = 0; i < STEPS; i++) {
      node = node.next;
    }
    at = node;
    steps += STEPS;
    return node;
  }

  /** Every step led one place further, and the ring has all nodes. */
  @TearDown
  public void check() {
    WrongAnswer.unless(
        at.place == steps % nodes, "at place " + at.place + " after " + steps + " steps");
    Node node = at;
    for (int i = 1; i <= nodes; i++) {
      node = node.next;
      WrongAnswer.unless(node.place == (steps + i) % nodes, "the ring is broken at " + node.place);
    }
    WrongAnswer.unless(node == at, "the ring has more than " + nodes + " nodes");
  }
}
