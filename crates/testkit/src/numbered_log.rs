//! A GC log of a few lines in which every number is drawn.

/// Six lines of a log of JDK 9 or later: its times, sizes and addresses are these numbers, however large.
pub fn log_of_numbers([a, b, c, d, e, f, g, h]: &[String; 8]) -> String {
    format!(
        "[{a}ns][{b}ns][{c}.{d}s] GC({e}) Pause Young (x) {f}M->{g}T({h}G) {a}.{b}ms\n\
         GC({e}) Tenured: {f}K({a}K)->{g}K({a}K)\nGC({e}) DefNew: {f}K({a}K)->{g}K({a}K)\n\
         GC({e}) Heap after GC invocations=1\nGC({e})  eden space {a}K, 0% used [0x{f}, 0x{g}, 0x{h})\n\
         Heap address: 0x{f}, size: {g} MB, Compressed Oops mode: Zero based, Oop shift amount: {h}\n"
    )
}
