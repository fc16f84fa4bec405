//! Which options a JVM gets that is started only to be asked: those that act on nothing but itself.

use super::judge::takes_next_word;
use super::listed::ListedFlag;
use super::parse::{Setting, has_variable};
use std::collections::BTreeMap;
use std::path::Path;

/// Options that act on the JVM alone, whole or with anything behind them.
const PASSED: [&str; 38] = [
    "-Xint",
    "-Xmixed",
    "-Xbatch",
    "-Xnoclassgc",
    "-Xincgc",
    "-Xconcgc",
    "-Xnoconcgc",
    "-Xrs",
    "-Xusealtsigs",
    "-Xfuture",
    "-Xdebug",
    "-Xnoagent",
    "-Xsqnopause",
    "-Xprof",
    "-Xverify*",
    "-Xcheck:jni",
    "-Xshare:auto",
    "-Xshare:on",
    "-Xshare:off",
    "-Xmaxjitcodesize*",
    "-Xoss*",
    "-server",
    "-client",
    "-d32",
    "-d64",
    "-ea*",
    "-da*",
    "-esa",
    "-dsa",
    "--enable-preview",
    "--add-*",
    "--illegal-*",
    "--enable-native-access*",
    "--enable-final-field-mutation*",
    "--sun-misc-unsafe-memory-access*",
    "--finalization*",
    "-jre-*",
    "-no-jre-*",
];
/// Switches that write files, open ports, load libraries, wait, or touch all memory.
const ACTING: [&str; 24] = [
    "AlwaysPreTouch",
    "AlwaysPreTouchStacks",
    "AutoCreateSharedArchive",
    "BootstrapJVMCI",
    "CompileTheWorld",
    "DumpPerfMapAtExit",
    "DumpSharedSpaces",
    "DynamicDumpSharedSpaces",
    "EagerJVMCI",
    "EnableJVMCI",
    "EnableJVMCIProduct",
    "FlightRecorder",
    "LogCompilation",
    "LogVMOutput",
    "ManagementServer",
    "PauseAtExit",
    "PauseAtStartup",
    "PerfDataSaveToFile",
    "RecordDynamicDumpInfo",
    "ReplayCompiles",
    "ShowMessageBoxOnError",
    "StartAttachListener",
    "UseJVMCICompiler",
    "UseJVMCINativeLibrary",
];
/// Beginnings of switches that load a disassembler or write files.
const ACTING_STARTS: [&str; 7] =
    ["CreateCoredump", "CreateMinidump", "CICrash", "JVMCI", "PrintAssembly", "UseGraal", "CompileTheWorld"];
/// Beginnings of sizes that bound memory, and take none.
const BOUNDS: [&str; 6] = ["Max", "SoftMax", "Reserved", "Compressed", "HeapBase", "Large"];
/// Texts that choose among words of the JVM, and name no file.
const WORDS: [&str; 3] = ["NativeMemoryTracking", "ShenandoahGCHeuristics", "ShenandoahGCMode"];
/// Above this a size that is taken at the start is not tried.
const TAKEN_MAX: i128 = 256 << 20;
/// Above this a number of threads is not tried.
const THREADS_MAX: i128 = 256;
const NUMBERS: [&str; 7] = ["intx", "uintx", "size_t", "uint64_t", "int", "uint", "double"];

/// The words by which the JVM gets an option; `None` where the option acts on something else. Logs go into `folder`.
pub(super) fn harmless(
    option: &str,
    listed: &BTreeMap<String, ListedFlag>,
    folder: &Path,
) -> Option<Vec<String>> {
    if has_variable(option) || option.contains('\0') {
        return None;
    }
    let setting = Setting::of(option);
    if setting != Setting::Other {
        return is_harmless_flag(&setting, listed).then(|| vec![option.to_owned()]);
    }
    if let Some(log) = option.strip_prefix("-Xlog:") {
        return Some(vec![format!("-Xlog:{}", into_folder(log, folder)?)]);
    }
    if option.starts_with("-Xloggc:") {
        return Some(vec![format!("-Xloggc:{}", folder.join("gc.log").display())]);
    }
    let is_passed = PASSED.iter().any(|one| match one.strip_suffix('*') {
        Some(start) => option.starts_with(start),
        None => *one == option,
    });
    // Modules that lie on a path cannot be found without it.
    let names_modules = option.starts_with("--add-modules") && !option.contains("ALL-");
    if !is_passed || names_modules && !option.split([' ', '=', ',']).skip(1).all(is_of_the_jdk) {
        return None;
    }
    Some(match option.split_once(' ') {
        Some((name, value)) if takes_next_word(name) => vec![name.to_owned(), value.to_owned()],
        _ => vec![option.to_owned()],
    })
}

fn is_of_the_jdk(module: &str) -> bool {
    module.starts_with("java.") || module.starts_with("jdk.")
}

fn is_harmless_flag(setting: &Setting<'_>, listed: &BTreeMap<String, ListedFlag>) -> bool {
    let Some(name) = setting.name() else { return false };
    let acts = ACTING.contains(&name) || ACTING_STARTS.iter().any(|start| name.starts_with(start));
    let kind = listed.get(name).map(|flag| flag.kind.as_str());
    match setting {
        Setting::Switch(_, on) => !(acts && *on),
        Setting::StackSize(_) => true,
        // It does not start with these, or ignores them.
        Setting::Wrong(_) => kind.is_none_or(|kind| !kind.starts_with("ccstr")),
        Setting::Value(_, text) if WORDS.contains(&name) => text.chars().all(|c| c.is_ascii_alphanumeric()),
        Setting::Value(_, text) => {
            let is_number = kind.is_none_or(|kind| NUMBERS.contains(&kind) || kind == "bool");
            let is_plain = text.chars().all(|c| c.is_ascii_alphanumeric() || ".-".contains(c));
            is_number && is_plain && !takes_much(name, setting.number().unwrap_or(0))
        }
        Setting::Other => false,
    }
}

/// Whether the JVM would take much memory, or many threads, as it starts.
fn takes_much(name: &str, value: i128) -> bool {
    if name.contains("Threads") || name.ends_with("Count") {
        return THREADS_MAX < value;
    }
    let is_time =
        ["Interval", "Millis", "Delay", "Timeout", "Time", "Period"].iter().any(|of| name.contains(of));
    let is_bound = is_time || BOUNDS.iter().any(|start| name.starts_with(start));
    name.starts_with("InitialRAM") || !is_bound && TAKEN_MAX < value
}

/// The same log in a file of the folder; `None` where it would be large.
fn into_folder(log: &str, folder: &Path) -> Option<String> {
    let mut parts = log.splitn(2, ':');
    let (what, rest) = (parts.next()?, parts.next());
    let is_large = what.is_empty() || what.contains("all") || what.contains("trace") && what.contains("*=");
    let Some(rest) = rest else { return (!is_large).then(|| what.to_owned()) };
    // The name of a file may be quoted, as colons may stand in it.
    let (output, behind) = match rest.strip_prefix("file=\"").or_else(|| rest.strip_prefix('"')) {
        Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
        None => rest.split_at(rest.find(':').unwrap_or(rest.len())),
    };
    let is_stream = ["", "stdout", "stderr"].contains(&output);
    let output = if is_stream { output.to_owned() } else { format!("file={}", folder.join("log").display()) };
    (!is_large).then(|| format!("{what}:{output}{behind}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::listed_flags;

    fn given(option: &str) -> Option<String> {
        let listed = listed_flags(
            " ccstr OnError = {product} {default}\n bool UseG1GC = true {product} {default}\n \
             size_t InitialHeapSize = 1 {product} {default}\n ccstr HeapDumpPath = {product} {default}\n",
        );
        harmless(option, &listed, Path::new("/kept")).map(|words| words.join("|"))
    }

    #[test]
    fn what_acts_on_anything_but_the_jvm_is_not_given_to_it() {
        for acting in [
            "-XX:OnError=touch /tmp/x",
            "-XX:HeapDumpPath=/tmp/x",
            "-XX:NoSuchText=/tmp/x",
            "-agentlib:jdwp=server=y",
            "-agentpath:/tmp/x.so",
            "-javaagent:/tmp/x.jar",
            "-Xrunhprof",
            "-XX:+AlwaysPreTouch",
            "-XX:+CreateCoredumpOnCrash",
            "-XX:+ManagementServer",
            "-XX:+LogVMOutput",
            "-XX:+PauseAtStartup",
            "-XX:+PrintAssembly",
            "-XX:Flags=/tmp/x",
            "-XX:VMOptionsFile=/tmp/x",
            "-Dcom.sun.management.jmxremote.port=1",
            "@/tmp/x",
            "-cp /tmp/x",
            "--module-path /tmp/x",
            "--patch-module java.base=/tmp/x",
            "--add-modules shop.cart",
            "-Xms4g",
            "-XX:InitialRAMPercentage=90",
            "-XX:ParallelGCThreads=99999",
            "-XX:StringTableSize=99999999999",
            "-Xdump:heap:exec=/tmp/x",
            "-Xbootclasspath/a:/tmp/x",
            "-Xshare:dump",
            "-XX:+DumpSharedSpaces",
            "-Xlog:all=trace:file=/tmp/x",
            "-Xmx${HEAP}",
            "-XX:+StartAttachListener",
            "-splash:/tmp/x",
            "-Xcomp",
        ] {
            assert_eq!(given(acting), None, "{acting}");
        }
    }

    #[test]
    fn what_a_jvm_is_given_is_what_was_typed_but_for_the_files_of_logs() {
        for same in [
            "-XX:+UseG1GC",
            "-XX:-AlwaysPreTouch",
            "-Xmx40g",
            "-Xms64m",
            "-Xss1m",
            "-XX:MaxRAMPercentage=75",
            "-XX:UseG1GC=true",
            "-XX:+NoSuchFlag",
            "-Xlog:gc",
            "-Xlog:gc*::time",
            "-Xlog:gc:stdout:time",
            "-ea:shop.Cart",
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
            "-XX:NativeMemoryTracking=summary",
            "-XX:+UseLargePages",
        ] {
            assert_eq!(given(same).as_deref(), Some(same));
        }
        let changed = [
            ("-Xlog:gc*:file=/var/log/gc.log:time:filecount=5", "-Xlog:gc*:file=/kept/log:time:filecount=5"),
            ("-Xlog:gc*:\"C:\\gc.log\":time", "-Xlog:gc*:file=/kept/log:time"),
            ("-Xlog:gc:/var/log/gc.log", "-Xlog:gc:file=/kept/log"),
            ("-Xloggc:/var/log/gc.log", "-Xloggc:/kept/gc.log"),
            ("--add-opens java.base/java.lang=ALL-UNNAMED", "--add-opens|java.base/java.lang=ALL-UNNAMED"),
            ("--add-modules java.se", "--add-modules|java.se"),
        ];
        for (typed, expected) in changed {
            assert_eq!(given(typed).as_deref(), Some(expected));
        }
    }
}
