//! A JVM as far as rules ask: flags from its memory, limits from its control group.

use crate::running::words_of;
use assay_hotspot::Hotspot;
use assay_linux::{CachedMemory, LinuxError, LiveProcess, Mapping, MemorySource, ProcRoot, SysRoot};
use assay_model::{
    ContainerLimits, FlagOrigin, HostFlag, HostGroup, HostJvm, JvmContainer, Problem, RunningJvm,
};
use assay_text::redact;
use std::collections::BTreeMap;

/// Flags that are kept though nobody set them.
const ALWAYS_KEPT: [&str; 11] = [
    "CICompilerCount",
    "HeapDumpOnOutOfMemoryError",
    "MaxHeapSize",
    "ParallelGCThreads",
    "PrintGC",
    "PrintGCDetails",
    "ReservedCodeCacheSize",
    "THPStackMitigation",
    "ThreadStackSize",
    "UseCompressedOops",
    "UseLSE",
];
/// A thread's arena of glibc's malloc reserves this much, at a multiple of it (`HEAP_MAX_SIZE` of a 64-bit process).
const ARENA_BYTES: u64 = 64 << 20;
/// Variables in which the JVM looks for options.
const OPTION_VARIABLES: [&str; 3] = ["JAVA_TOOL_OPTIONS=", "JDK_JAVA_OPTIONS=", "_JAVA_OPTIONS="];

/// Reads it; `None` when it has ended.
pub(super) fn read(
    proc: &ProcRoot,
    sys: &SysRoot,
    running: RunningJvm,
    problems: &mut Vec<Problem>,
) -> Option<HostJvm> {
    let pid = running.pid;
    let folder = proc.path().join(pid.to_string());
    let environment = words_of(&folder.join("environ")).ok();
    let mut jvm = HostJvm {
        pid,
        program: running.program,
        version: running.version,
        open_files: std::fs::read_dir(folder.join("fd")).ok().map(|files| files.count() as u64),
        limits_arenas: environment.as_ref().map(|of| of.iter().any(|word| limits_arenas(word))),
        group: group(proc, sys, pid).map_err(|e| problems.push(Problem::from(&e))).ok(),
        ..HostJvm::default()
    };
    match LiveProcess::open(proc, pid) {
        Ok(process) => {
            jvm.mappings = Some(process.mappings().len() as u64);
            jvm.malloc_arenas = (process.word_bytes() == 8).then(|| arenas(process.mappings()));
            // The control group has said already why it cannot be read.
            let limits = proc.read_container_limits(sys, pid).ok();
            read_memory(&process, limits, &mut jvm, problems);
        }
        Err(error) if error.is_absent() => return None,
        Err(error) => problems.push(Problem::from(&error)),
    }
    let words = words_of(&folder.join("cmdline")).ok();
    jvm.logs_collections = logs_collections(jvm.flags.as_ref(), words.as_deref(), environment.as_deref());
    Some(jvm)
}

fn read_memory(
    process: &LiveProcess,
    limits: Option<ContainerLimits>,
    jvm: &mut HostJvm,
    problems: &mut Vec<Problem>,
) {
    let memory = CachedMemory::new(process);
    let hotspot = match Hotspot::open(&memory) {
        Ok(Some(hotspot)) => hotspot,
        Ok(None) => return,
        Err(error) => return problems.push(Problem::new(format!("JVM {}", jvm.pid), error.to_string())),
    };
    jvm.container = limits.map(|limits| JvmContainer { view: hotspot.container_view(), limits });
    jvm.feature = hotspot.version().map(|version| version.feature);
    jvm.collector = hotspot.collector().map(|collector| collector.name().to_owned());
    let flags = hotspot.flags();
    let kept = flags.names().filter_map(|name| {
        let set_by = flags.set_by(name)?;
        let is_kept = set_by != FlagOrigin::Default || ALWAYS_KEPT.contains(&name);
        let value = redact::value(name, &flags.value(name)?.to_string()).into_owned();
        is_kept.then(|| (name.to_owned(), HostFlag { value, set_by }))
    });
    let kept: BTreeMap<String, HostFlag> = kept.collect();
    jvm.flags = Some(kept).filter(|flags| !flags.is_empty());
}

fn group(proc: &ProcRoot, sys: &SysRoot, pid: u32) -> Result<HostGroup, LinuxError> {
    let groups = proc.read_cgroups(sys, Some(pid))?;
    let limits = groups.read_limits()?;
    let threads = groups.read_threads()?;
    Ok(HostGroup {
        cpus: limits.cpus,
        memory_bytes: limits.memory_bytes,
        throttled_ns: groups.read_throttling()?.map(|throttling| throttling.throttled_ns),
        cpu_ns: groups.read_cpu()?.map(|cpu| cpu.usage_ns),
        threads: threads.map(|threads| threads.threads),
        threads_max: threads.and_then(|threads| threads.threads_max),
    })
}

fn limits_arenas(variable: &str) -> bool {
    variable.starts_with("MALLOC_ARENA_MAX=")
        || variable.strip_prefix("GLIBC_TUNABLES=").is_some_and(|of| of.contains("glibc.malloc.arena_max="))
}

/// Each is a readable and writable part and one that nobody may use, which together are as large as an arena reserves.
fn arenas(mappings: &[Mapping]) -> u64 {
    let is_arena = |pair: &[Mapping]| {
        let (used, rest) = (&pair[0], &pair[1]);
        used.name.is_empty()
            && used.permissions.starts_with(b"rw-")
            && rest.permissions.starts_with(b"---")
            && used.addresses.start.is_multiple_of(ARENA_BYTES)
            && used.addresses.end == rest.addresses.start
            && rest.addresses.end - used.addresses.start == ARENA_BYTES
    };
    mappings.windows(2).filter(|pair| is_arena(pair)).count() as u64
}

/// `None` where options may come from a place that was not read.
fn logs_collections(
    flags: Option<&BTreeMap<String, HostFlag>>,
    words: Option<&[String]>,
    environment: Option<&[String]>,
) -> Option<bool> {
    // Before JDK 9 the option is a flag like others.
    let is_on = |name: &str| flags.is_some_and(|of| of.get(name).is_some_and(|flag| flag.value == "true"));
    let options = environment
        .unwrap_or_default()
        .iter()
        .filter_map(|variable| OPTION_VARIABLES.iter().find_map(|name| variable.strip_prefix(name)));
    let options = options.flat_map(str::split_whitespace).chain(words?.iter().map(String::as_str));
    let is_asked = is_on("PrintGC") || is_on("PrintGCDetails") || options.into_iter().any(asks_for_gc_log);
    // A file of options (`@FILE`) is not read.
    let is_all_read = environment.is_some() && !words?.iter().any(|word| word.starts_with('@'));
    if is_asked { Some(true) } else { is_all_read.then_some(false) }
}

fn asks_for_gc_log(option: &str) -> bool {
    let Some(selection) = option.strip_prefix("-Xlog:") else {
        return matches!(option, "-Xlog" | "-verbose:gc") || option.starts_with("-Xloggc:");
    };
    let what = selection.split(':').next().unwrap_or_default();
    what.split(',').any(|one| {
        let (tags, level) = one.split_once('=').unwrap_or((one, ""));
        level != "off" && tags.split('+').any(|tag| matches!(tag.trim_end_matches('*'), "gc" | "all"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_for_a_gc_log_are_known_in_every_place_that_was_read() {
        let asked = |words: &[&str], environment: Option<&[&str]>| {
            let own = |of: &[&str]| -> Vec<String> { of.iter().map(|word| (*word).to_owned()).collect() };
            logs_collections(None, Some(&own(words)), environment.map(own).as_deref())
        };
        for on in [
            "-Xlog:gc",
            "-Xlog:gc*:file=x.log",
            "-Xlog:safepoint,gc+heap=debug",
            "-Xloggc:x",
            "-verbose:gc",
            "-Xlog",
        ] {
            assert_eq!(asked(&["java", on], None), Some(true), "{on}");
        }
        for off in ["-Xlog:disable", "-Xlog:safepoint", "-Xlog:gc=off", "-Xlog:gcfoo"] {
            assert_eq!(asked(&["java", off], Some(&[])), Some(false), "{off}");
        }
        assert_eq!(asked(&["java"], Some(&["JAVA_TOOL_OPTIONS=-Xmx1g -Xlog:gc"])), Some(true));
        assert_eq!(asked(&["java"], None), None);
        assert_eq!(asked(&["java", "@options"], Some(&[])), None);
    }

    #[test]
    fn an_arena_is_limited_by_either_variable() {
        assert!(limits_arenas("MALLOC_ARENA_MAX=2"));
        assert!(limits_arenas("GLIBC_TUNABLES=glibc.malloc.trim_threshold=1:glibc.malloc.arena_max=2"));
        assert!(!limits_arenas("GLIBC_TUNABLES=glibc.malloc.trim_threshold=1"));
    }
}
