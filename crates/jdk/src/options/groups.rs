//! What an option is about: options of one group act together, and are judged together.

use super::parse::Setting;
use assay_model::FlagGroup;

/// Names of flags and beginnings of other options by group; `*` stands for any letters. The first row that fits decides.
#[rustfmt::skip]
const GROUPS: [(FlagGroup, &[&str]); 13] = [
    (FlagGroup::Unlock, &["Unlock*", "IgnoreUnrecognizedVMOptions"]),
    (FlagGroup::Logging, &[
        "-Xlog*", "-verbose*", "Print*", "Trace*", "Log*", "*GCLogFile*",
    ]),
    (FlagGroup::HeapSize, &[
        "MaxHeapSize", "InitialHeapSize", "MinHeapSize", "SoftMaxHeapSize", "MinHeapDeltaBytes", "MaxRAM*", "MinRAM*", "InitialRAM*",
        "ErgoHeapSizeLimit", "NewSize", "MaxNewSize", "NewRatio", "OldSize", "SurvivorRatio", "InitialSurvivorRatio", "MinHeapFreeRatio",
        "MaxHeapFreeRatio", "G1NewSizePercent", "G1MaxNewSizePercent",
    ]),
    (FlagGroup::Pages, &["AlwaysPreTouch*", "PreTouch*", "UseLargePages*", "LargePage*", "UseTransparentHugePages", "UseNUMA*", "UseHugeTLBFS", "UseSHM"]),
    (FlagGroup::Objects, &["UseCompressed*", "UseCompactObjectHeaders", "ObjectAlignmentInBytes", "HeapBaseMinAddress"]),
    (FlagGroup::Processors, &["ActiveProcessorCount", "UseContainerSupport", "UseDynamicNumberOf*", "*CpuShares*"]),
    (FlagGroup::Collector, &[
        "Use*GC", "G1*", "Z*", "Shenandoah*", "CMS*", "Parallel*", "UseParallel*", "Conc*", "*GCPause*", "GC*", "InitiatingHeapOccupancy*",
        "*TenuringThreshold", "TargetSurvivorRatio", "UseAdaptive*Policy*", "AdaptiveSizePolicy*", "*ExplicitGC*", "*StringDeduplication*",
        "UseCMS*", "UseGC*", "YoungPLABSize", "OldPLABSize", "ResizePLAB", "UseTLAB", "TLAB*", "ResizeTLAB", "MinTLABSize", "SoftRefLRUPolicyMSPerMB",
        "RefDiscoveryPolicy", "ScavengeBeforeFullGC", "NeverTenure", "AlwaysTenure", "PretenureSizeThreshold", "-Xincgc", "-Xconcgc",
        "-Xnoclassgc", "ClassUnloading*",
    ]),
    (FlagGroup::Jit, &[
        "Tiered*", "CICompiler*", "*CodeCache*", "*CodeHeap*", "Compile*", "*Compilation*", "*Inline*", "*Inlining*", "Loop*", "*Unroll*",
        "*Unswitch*", "*EscapeAnalysis", "Eliminate*", "UseSuperWord", "UseAVX", "UseSSE", "Use*Intrinsic*", "UseVector*", "UseOnStackReplacement",
        "UseCounterDecay", "OptimizeStringConcat", "OptimizeFill", "AggressiveOpts", "AggressiveUnboxing", "UseFastAccessorMethods", "UseJVMCI*",
        "EnableJVMCI*", "JVMCI*", "-Xint", "-Xcomp", "-Xmixed", "-Xbatch", "-server", "-client", "*Prefetch*", "UseFPUForSpilling",
        "OmitStackTraceInFastThrow", "UseFast*", "UseXMM*", "UseNewLongLShift", "UseBiasedLocking", "BiasedLocking*",
    ]),
    (FlagGroup::NativeMemory, &[
        "*Metaspace*", "CompressedClassSpaceSize", "*PermSize", "*StackSize", "MaxDirectMemorySize", "StringTableSize", "SymbolTableSize",
        "TrimNativeHeapInterval",
    ]),
    (FlagGroup::Start, &["-Xshare*", "SharedArchiveFile", "*Archive*", "AOT*", "-Xverify*", "BytecodeVerification*", "UseSharedSpaces"]),
    (FlagGroup::Diagnosis, &[
        "HeapDump*", "*OnOutOfMemoryError", "OnError", "ErrorFile", "NativeMemoryTracking", "*FlightRecord*", "UsePerfData", "PerfData*",
        "PerfDisableSharedMem", "DebugNonSafepoints", "StackTraceInThrowable", "ShowCodeDetailsInExceptionMessages", "-agentlib*", "-agentpath*",
        "-javaagent*", "-Xrun*", "-Xdebug", "-Xcheck*", "CreateCoredumpOnCrash", "*AttachMechanism", "PreserveFramePointer",
    ]),
    (FlagGroup::Properties, &["-D*"]),
    (FlagGroup::Classes, &["--*", "-cp*", "-classpath*", "-p *", "-ea*", "-da*", "-esa*", "-dsa*", "-enable*", "-disable*", "-Xbootclasspath*"]),
];
/// Beginnings of options that may be given several times, since each adds to the others.
const ADDED: [&str; 14] = [
    "-XX:CompileCommand=",
    "-XX:CompileOnly=",
    "-XX:OnError=",
    "-XX:OnOutOfMemoryError=",
    "-Xlog",
    "-javaagent:",
    "-agentlib:",
    "-agentpath:",
    "-Xrun",
    "-ea",
    "-da",
    "-verbose",
    "--add-",
    "-Xbootclasspath/a:",
];

/// What an option is about.
pub fn group_of(option: &str) -> FlagGroup {
    let name = Setting::of(option).name().unwrap_or(option);
    let fits = |patterns: &[&str]| patterns.iter().any(|pattern| matches(pattern, name));
    GROUPS.iter().find(|(_, patterns)| fits(patterns)).map_or(FlagGroup::Rest, |(group, _)| *group)
}

/// Whether both set the same, so that the later one alone counts.
pub fn set_the_same(first: &str, second: &str) -> bool {
    fn subject(option: &str) -> &str {
        let is_added = ADDED.iter().any(|start| option.starts_with(start));
        let of_flag = || Setting::of(option).name();
        let of_property = || option.starts_with("-D").then(|| option.split('=').next().unwrap_or(option));
        if is_added { option } else { of_flag().or_else(of_property).unwrap_or(option) }
    }
    subject(first) == subject(second)
}

/// Whether a text fits a pattern, in which `*` stands for any letters.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(behind) = text.strip_prefix(start) else { return false };
    rest.is_empty() || (0..=behind.len()).filter_map(|at| behind.get(at..)).any(|end| matches(rest, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::flag_names;

    #[test]
    fn options_that_act_together_are_of_one_group() {
        for (group, options) in [
            (FlagGroup::Collector, "-XX:+UseG1GC -XX:G1HeapRegionSize=8M -XX:MaxGCPauseMillis=200"),
            (
                FlagGroup::Collector,
                "-XX:+UseZGC -XX:+ZGenerational -XX:ConcGCThreads=2 -XX:+DisableExplicitGC",
            ),
            (FlagGroup::Collector, "-XX:+ParallelRefProcEnabled -XX:MaxTenuringThreshold=1"),
            (FlagGroup::HeapSize, "-Xmx4g -Xms4g -Xmn1g -XX:MaxRAMPercentage=75 -XX:G1NewSizePercent=30"),
            (FlagGroup::Pages, "-XX:+AlwaysPreTouch -XX:+UseTransparentHugePages"),
            (FlagGroup::Objects, "-XX:-UseCompressedOops -XX:ObjectAlignmentInBytes=16"),
            (FlagGroup::Jit, "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=64m -Xint"),
            (FlagGroup::NativeMemory, "-Xss256k -XX:MaxMetaspaceSize=128m"),
            (FlagGroup::Logging, "-Xlog:gc*:file=gc.log -verbose:gc -XX:+PrintGCDetails"),
            (
                FlagGroup::Diagnosis,
                "-XX:+PerfDisableSharedMem -XX:+HeapDumpOnOutOfMemoryError -javaagent:a.jar",
            ),
            (FlagGroup::Properties, "-Dshop.size=3"),
            (FlagGroup::Classes, "--add-opens=java.base/java.lang=ALL-UNNAMED -ea"),
            (FlagGroup::Processors, "-XX:ActiveProcessorCount=2 -XX:+UseContainerSupport"),
            (FlagGroup::Unlock, "-XX:+UnlockExperimentalVMOptions -XX:+UnlockDiagnosticVMOptions"),
            (FlagGroup::Rest, "-XX:+UseStringCache"),
        ] {
            for option in options.split(' ') {
                assert_eq!(group_of(option), group, "{option}");
            }
        }
    }

    /// A row of the table that no flag of any release reaches would be a slip in its spelling.
    #[test]
    fn every_pattern_is_reached_by_a_flag() {
        let names: Vec<&str> = flag_names().collect();
        for (group, patterns) in GROUPS {
            let of_flags = patterns.iter().filter(|pattern| !pattern.starts_with('-'));
            for pattern in of_flags {
                let reaches =
                    |name: &&&str| matches(pattern, name) && group_of(&format!("-XX:+{name}")) == group;
                assert!(names.iter().any(|name| reaches(&name)), "{group}: {pattern}");
            }
        }
    }

    #[test]
    fn a_flag_is_given_twice_whatever_its_value_and_some_add_to_each_other() {
        for (first, second) in
            [("-Xmx1g", "-XX:MaxHeapSize=2g"), ("-XX:+UseZGC", "-XX:-UseZGC"), ("-Da=1", "-Da=2")]
        {
            assert!(set_the_same(first, second), "{first} {second}");
        }
        for (first, second) in
            [("-Xlog:gc", "-Xlog:safepoint"), ("-XX:OnError=a", "-XX:OnError=b"), ("-Da=1", "-Db=1")]
        {
            assert!(!set_the_same(first, second), "{first} {second}");
        }
        assert!(set_the_same("-Xlog:gc", "-Xlog:gc"), "the very same");
    }
}
