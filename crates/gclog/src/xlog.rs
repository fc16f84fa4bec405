//! The logging option that gives this reader all it can use.

/// The option that makes a JVM write a GC log which this reader gets everything from: the same for JDK 17 and
/// 25, 32 and 64 bits, Serial, Parallel and G1.
///
/// - `gc*=info`: pauses, causes, versions, capacities, class pointers.
/// - `gc+heap=debug`: each space before and after each collection, which makes byte counts exact.
/// - `gc+heap+coops=debug`: mode, shift and heap address of compressed references.
/// - `pagesize=info`: about ten lines at start. They name the heap's address and size in every mode, also
///   when references are not compressed, and the width of their addresses tells a 32-bit JVM from a 64-bit
///   one: a 32-bit JVM too says `Compressed Oops: Disabled`, and nothing else in the log names the word size.
/// - `timenanos` is `System.nanoTime()`, on Linux `CLOCK_MONOTONIC`: pauses and requests share one clock.
/// - `uptime`: seconds since the start of the JVM, for people.
/// - `filecount=0`: one file, no rotation that would lose its beginning.
///
/// A path with a colon is put in double quotes; one with a double quote in it cannot be given to a JVM. `%p`
/// and `%t` in a path are replaced by the JVM (process id, start time).
pub fn xlog_option(path: &str) -> String {
    let file = if path.contains(':') { format!("\"{path}\"") } else { path.to_owned() };
    format!(
        "-Xlog:gc*=info,gc+heap=debug,gc+heap+coops=debug,pagesize=info:file={file}:uptime,timenanos,level,tags:filecount=0"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colon_in_the_path_is_kept_from_ending_it() {
        assert!(xlog_option("/tmp/gc.log").contains(":file=/tmp/gc.log:uptime"));
        assert!(xlog_option("/tmp/a:b.log").contains(":file=\"/tmp/a:b.log\":uptime"));
    }
}
