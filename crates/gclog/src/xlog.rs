//! The logging option that gives this reader all it can use, and the file that such options name.

/// The option that makes a JVM write a GC log which this reader gets everything from: the same for JDK 17 and
/// 25, 32 and 64 bits, Serial, Parallel and G1.
///
/// - `gc*=info`: pauses, causes, versions, capacities, class pointers.
/// - `gc+heap=debug`: each space before and after each collection, which makes byte counts exact.
/// - `gc+heap+coops=debug`: mode, shift and heap address of compressed references.
/// - `pagesize=info`: about ten lines at start. They name the heap's address and size in every mode, also
///   when references are not compressed, and the width of their addresses distinguishes a 32-bit JVM from a 64-bit
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

/// The options by which a JVM writes its GC log to this file: [`xlog_option`], and without unified logging (JDK 8 and before) those that
/// come nearest: sizes in KiB, instants in milliseconds of the wall clock. `None` for a path that the JVM cannot be given: one with a
/// double quote, and without unified logging one with other characters than letters, digits and `-_./%`.
pub fn log_options(path: &str, has_unified_logging: bool) -> Option<Vec<String>> {
    if has_unified_logging {
        return (!path.contains('"')).then(|| vec![xlog_option(path)]);
    }
    let is_taken = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '%');
    let lines = ["-XX:+PrintGCDetails", "-XX:+PrintGCDateStamps", "-XX:+PrintGCTimeStamps"];
    let options = [format!("-Xloggc:{path}")].into_iter().chain(lines.map(str::to_owned));
    path.chars().all(is_taken).then(|| options.collect())
}

/// The file to which options of a JVM make it write its GC log, as they spell it: `%p` and `%t` are still in it. The last that names
/// one counts; `None` where none does. Forms: `-Xlog:SELECTION:[file=]FILE:...` (JDK 9 on), `-Xloggc:FILE` (JDK 8), and
/// `-Xverbosegclog:FILE[,FILES,CYCLES]` (OpenJ9).
pub fn log_file_of<'a>(options: impl IntoIterator<Item = &'a String>) -> Option<String> {
    options.into_iter().filter_map(|option| file_in(option)).last()
}

fn file_in(option: &str) -> Option<String> {
    if let Some(file) = option.strip_prefix("-Xloggc:") {
        return (!file.is_empty()).then(|| file.to_owned());
    }
    if let Some(files) = option.strip_prefix("-Xverbosegclog:") {
        return files.split(',').next().filter(|file| !file.is_empty()).map(str::to_owned);
    }
    let (selection, output) = option.strip_prefix("-Xlog:")?.split_once(':')?;
    let is_of_gc = |one: &str| {
        let (tags, level) = one.split_once('=').unwrap_or((one, ""));
        level != "off" && tags.split('+').any(|tag| matches!(tag.trim_end_matches('*'), "gc" | "all" | ""))
    };
    if !selection.split(',').any(is_of_gc) {
        return None;
    }
    let output = output.strip_prefix("file=").unwrap_or(output);
    // A colon within quotes is one of the path.
    let file = match output.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => output.split(':').next(),
    };
    file.filter(|file| !matches!(*file, "" | "stdout" | "stderr")).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_a_log_is_found_in_every_form_of_the_option() {
        let file =
            |options: &[&str]| log_file_of(&options.iter().map(|o| (*o).to_owned()).collect::<Vec<_>>());
        for (option, expected) in [
            ("-Xlog:gc*:file=/var/log/gc-%p-%t.log:uptime:filecount=5", "/var/log/gc-%p-%t.log"),
            ("-Xlog:gc:gc.log", "gc.log"),
            ("-Xlog:safepoint,gc+heap=debug:file=\"/a:b/gc.log\":tags", "/a:b/gc.log"),
            ("-Xlog::file=all.log", "all.log"),
            ("-Xloggc:old.log", "old.log"),
            ("-Xverbosegclog:j9.log,5,10000", "j9.log"),
        ] {
            assert_eq!(file(&[option]).as_deref(), Some(expected), "{option}");
        }
        for none in [
            "-Xlog:gc",
            "-Xlog:gc*:stdout",
            "-Xlog:gc=off:file=x",
            "-Xlog:safepoint:file=x",
            "-Xmx4g",
            "-Xlog",
            "-Xloggc:",
        ] {
            assert_eq!(file(&[none]), None, "{none}");
        }
        assert_eq!(file(&["-Xloggc:a", "-Xlog:gc:file=b", "-Xmx1g"]).as_deref(), Some("b"));
        assert_eq!(file(&[&xlog_option("/tmp/a:b.log")]).as_deref(), Some("/tmp/a:b.log"));
    }

    #[test]
    fn a_colon_in_the_path_is_kept_from_ending_it() {
        assert!(xlog_option("/tmp/gc.log").contains(":file=/tmp/gc.log:uptime"));
        assert!(xlog_option("/tmp/a:b.log").contains(":file=\"/tmp/a:b.log\":uptime"));
    }
}
