//! Options that make two JVMs alike which have part of a machine each: what a JVM otherwise derives from the processors that it finds.
//!
//! A JVM that finds one processor, or less than 1,792 MiB of memory, takes the serial collector (`os::is_server_class_machine`). The numbers of
//! threads are those that it derives itself: `WorkerPolicy::calc_parallel_worker_threads`, `G1ConcRefinementThreads` aside;
//! `CompilationPolicy::initialize` for the compilers. They are the same in JDK 8 to 26.

use super::parse::Setting;
use crate::Collector;

/// First update of JDK 8 with `ActiveProcessorCount`; JDK 9 has none.
const ACTIVE_PROCESSORS_SINCE_UPDATE_OF_8: u32 = 191;
/// Beside `-Xint`: what decides how many compilers there are.
const COMPILERS: [&str; 3] = ["CICompilerCount", "TieredCompilation", "TieredStopAtLevel"];

/// Options that a JVM is given so that it is like another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AlikeOptions {
    /// Options before its own.
    pub given: Vec<String>,
    /// Those of its own that say something of the same, and stay.
    pub own: Vec<String>,
}

impl AlikeOptions {
    /// For a JVM of this version with these options, on so many processors, with this collector where its options choose none.
    pub fn of(version: &str, processors: u32, collector: Collector, options: &[String]) -> AlikeOptions {
        let settings: Vec<(&String, Option<&str>)> =
            options.iter().map(|option| (option, Setting::of(option).name())).collect();
        let sets =
            |names: &[&str]| settings.iter().any(|(_, name)| name.is_some_and(|name| names.contains(&name)));
        let chooses = |name: &str| Collector::of_flag(name).is_some();
        let chosen = settings.iter().rev().find_map(|(_, name)| Collector::of_flag((*name)?));
        let has_compilers = sets(&COMPILERS) || options.iter().any(|option| option == "-Xint");
        let mut given = Vec::new();
        let mut give = |is_wanted: bool, option: String| given.extend(is_wanted.then_some(option));
        give(
            has_active_processors(version) && !sets(&["ActiveProcessorCount"]),
            format!("-XX:ActiveProcessorCount={processors}"),
        );
        give(chosen.is_none(), format!("-XX:+Use{}GC", collector.name()));
        let collector = chosen.unwrap_or(collector);
        let parallel = if processors <= 8 { processors } else { 8 + (processors - 8) * 5 / 8 };
        let is_parallel = matches!(collector, Collector::Parallel | Collector::G1);
        give(is_parallel && !sets(&["ParallelGCThreads"]), format!("-XX:ParallelGCThreads={parallel}"));
        let concurrent = ((parallel + 2) / 4).max(1);
        let is_concurrent = collector == Collector::G1 && !sets(&["ParallelGCThreads", "ConcGCThreads"]);
        give(is_concurrent, format!("-XX:ConcGCThreads={concurrent}"));
        give(!has_compilers, format!("-XX:CICompilerCount={}", compilers(processors)));
        let same = ["ActiveProcessorCount", "ParallelGCThreads", "ConcGCThreads"];
        let is_own = |(option, name): &(&String, Option<&str>)| {
            let of_name = |name: &str| same.contains(&name) || COMPILERS.contains(&name) || chooses(name);
            name.is_some_and(of_name) || *option == "-Xint"
        };
        let own = settings.iter().filter(|setting| is_own(setting)).map(|(option, _)| (*option).clone());
        AlikeOptions { own: own.collect(), given }
    }
}

/// Threads of the two compilers together.
fn compilers(processors: u32) -> u32 {
    let log = processors.max(1).ilog2();
    (log * log.max(1).ilog2() * 3 / 2).max(2)
}

fn has_active_processors(version: &str) -> bool {
    let of_8 = version.strip_prefix("1.8.0_");
    let update =
        of_8.map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next().and_then(|n| n.parse::<u32>().ok()));
    match (update, crate::feature_of(version)) {
        (Some(update), _) => update.is_some_and(|update| ACTIVE_PROCESSORS_SINCE_UPDATE_OF_8 <= update),
        (None, feature) => feature.is_some_and(|feature| 10 <= feature),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(version: &str, processors: u32, options: &str) -> (String, String) {
        let options: Vec<String> = options.split_whitespace().map(str::to_owned).collect();
        let AlikeOptions { given, own } = AlikeOptions::of(version, processors, Collector::G1, &options);
        (given.join(" "), own.join(" "))
    }

    #[test]
    fn what_follows_from_processors_is_given() {
        let (given, own) = of("17.0.15+6", 1, "-Xmx1g -XX:+UseStringDeduplication");
        let want = "-XX:ActiveProcessorCount=1 -XX:+UseG1GC -XX:ParallelGCThreads=1 -XX:ConcGCThreads=1 -XX:CICompilerCount=2";
        assert_eq!((given.as_str(), own.as_str()), (want, ""));
        // As a JVM on 16 processors lists them.
        let want = "-XX:ActiveProcessorCount=16 -XX:+UseG1GC -XX:ParallelGCThreads=13 -XX:ConcGCThreads=3 -XX:CICompilerCount=12";
        assert_eq!(of("21", 16, "").0, want);
    }

    #[test]
    fn what_the_user_set_stays_and_is_said() {
        let (given, own) = of("17", 2, "-XX:+UseSerialGC -XX:TieredStopAtLevel=1");
        let want = "-XX:ActiveProcessorCount=2";
        assert_eq!((given.as_str(), own.as_str()), (want, "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"));
        let (given, own) =
            of("17", 2, "-XX:+UseParallelGC -XX:ParallelGCThreads=3 -XX:ActiveProcessorCount=4");
        assert_eq!(given, "-XX:CICompilerCount=2");
        assert_eq!(own, "-XX:+UseParallelGC -XX:ParallelGCThreads=3 -XX:ActiveProcessorCount=4");
        // These derive their threads from the processors by rules of their own.
        assert_eq!(of("21", 2, "-XX:+UseZGC").0, "-XX:ActiveProcessorCount=2 -XX:CICompilerCount=2");
    }

    #[test]
    fn releases_without_the_number_of_processors_are_given_the_rest() {
        for version in ["1.8.0_181", "9.0.4"] {
            assert!(!of(version, 1, "").0.contains("ActiveProcessorCount"), "{version}");
        }
        assert!(of("1.8.0_412-b08", 1, "").0.contains("ActiveProcessorCount=1"));
    }
}
