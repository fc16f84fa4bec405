//! From a wanted reference mode to the JVM options that give it.
//!
//! There is one model of what options do, [`HeapSetting`]: options are tried on it until one set gives the mode. It assumes the
//! usual address space, so the mode that a JVM really chose is always read from its log ([`check`]).
//! Held by: `every_mode_is_the_one_that_the_jvm_s_log_shows`.

use super::compute::{HeapSetting, MAX_HEAP_BYTES_MIN};
use super::options::DecidingOptions;
use super::space::AddressSpace;
use crate::{Collector, Release};
use assay_model::{ModeRead, ReferenceMode, RequestedMode};
use assay_text::size;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
/// Default collectors of a JVM: the second where it has one processor or less than 2 GB of memory.
const COLLECTORS_BY_DEFAULT: [Collector; 2] = [Collector::G1, Collector::Serial];

const BITS_32: RequestedMode = RequestedMode::Exactly(ReferenceMode::Bits32);

/// Word size of the JVM that a mode needs.
pub fn bits_of(mode: RequestedMode) -> u8 {
    if mode == BITS_32 { 32 } else { 64 }
}

/// What is asked of a JVM.
#[derive(Debug, Clone, Copy)]
pub struct WantedMode<'a> {
    /// The reference mode; any where it is absent.
    pub mode: Option<RequestedMode>,
    /// Largest heap, bytes; absent where the JVM chooses it.
    pub max_heap_bytes: Option<u64>,
    /// Whether object headers are to be compact.
    pub has_compact_headers: bool,
    /// The other JVM options; those that are found come behind them.
    pub options: &'a [String],
}

impl WantedMode<'_> {
    /// JVM options that give it in a JVM of this release.
    ///
    /// # Errors
    /// Why there are none, by what decides in the JVM.
    pub fn jvm_options(&self, feature: u32) -> Result<Vec<String>, String> {
        let heap =
            self.max_heap_bytes.map_or_else(String::new, |heap| format!(" with heap {}", size::option(heap)));
        if self.max_heap_bytes.is_some_and(|heap| heap < MAX_HEAP_BYTES_MIN) {
            let least = size::option(MAX_HEAP_BYTES_MIN);
            return Err(format!(
                "{} is below the {least} that a JVM starts with",
                heap.trim_start_matches(" with ")
            ));
        }
        let mut found = self.options_of_headers(feature)?;
        if let Some(mode) = self.mode {
            let mut why = String::new();
            let given = self.candidates(mode).into_iter().find(|given| {
                self.gives(mode, given, feature).inspect_err(|reason| why.clone_from(reason)).is_ok()
            });
            let given = given.ok_or_else(|| format!("{}{heap}: {why}", mode.name()))?;
            found.splice(0..0, given);
        }
        Ok(found)
    }

    /// Why no JVM has it; `None` where one may.
    pub fn impossible(&self) -> Option<String> {
        let mut tried = Release::all().iter().map(|release| self.jvm_options(release.feature));
        let last = tried.next_back()?.err()?;
        tried.all(|found| found.is_err()).then_some(last)
    }

    fn options_of_headers(&self, feature: u32) -> Result<Vec<String>, String> {
        if !self.has_compact_headers {
            // With a mode that was asked for, headers are ordinary ones, whatever the release's default.
            let is_on = self.mode.is_some() && Release::of(feature).modes.headers_are_compact;
            return Ok(is_on.then(|| "-XX:-UseCompactObjectHeaders".to_owned()).into_iter().collect());
        }
        let without = [BITS_32, RequestedMode::Exactly(ReferenceMode::Full64)];
        if let Some(mode) = self.mode.filter(|mode| without.contains(mode)) {
            let mode = mode.name();
            return Err(format!(
                "compact headers with {mode}: they need compressed class pointers, as 64-bit-ccp has"
            ));
        }
        let since = Release::product_since("UseCompactObjectHeaders");
        if feature < since {
            return Err(format!(
                "compact headers came with JDK {since}; set jvm = \"{since}\" on that level"
            ));
        }
        Ok(vec!["-XX:+UseCompactObjectHeaders".to_owned()])
    }

    fn decided_with(&self, given: &[String]) -> DecidingOptions {
        let all = self.options.iter().chain(given);
        // Values that are not computed are left to the log.
        DecidingOptions { not_judged: None, ..DecidingOptions::of(all.map(String::as_str)) }
    }

    /// Options that may give a mode, the preferred first.
    fn candidates(&self, mode: RequestedMode) -> Vec<Vec<String>> {
        use ReferenceMode::{Bits32, Full64, Full64CompressedClassPointers};
        let off = |flag: &str| format!("-XX:-{flag}");
        match mode {
            RequestedMode::Compressed | RequestedMode::Exactly(Bits32) => vec![Vec::new()],
            RequestedMode::Exactly(Full64 | Full64CompressedClassPointers) => vec![
                vec![off("UseCompressedOops")],
                vec![off("UseCompressedOops"), off("UseCompressedClassPointers")],
            ],
            RequestedMode::Exactly(_) => {
                let reach = self.decided_with(&[]).reach_bytes();
                // Disjoint: its bits do not overlap with those of an offset. Non-zero: the base must be added. Then those of
                // zero-based heaps, lower for larger ones, and of heaps that end below 4 GiB.
                let bases = [2 * reach, reach + reach / 4, 8 * GIB, 2 * GIB, GIB, 512 * MIB, 64 * MIB];
                let of = |base| {
                    let base = format!("-XX:HeapBaseMinAddress={}", size::option(base));
                    vec!["-XX:+UseCompressedOops".to_owned(), base]
                };
                bases.map(of).into()
            }
        }
    }

    /// Whether a JVM with these options has the mode, with whatever collector it may take; if not, what decides.
    fn gives(&self, mode: RequestedMode, given: &[String], feature: u32) -> Result<(), String> {
        let options = self.decided_with(given);
        let bits = bits_of(mode);
        // A heap that the JVM chooses is not known here.
        let heap = self.max_heap_bytes.unwrap_or(MAX_HEAP_BYTES_MIN);
        let collectors = options.collector.map_or(COLLECTORS_BY_DEFAULT.to_vec(), |chosen| vec![chosen]);
        collectors.into_iter().try_for_each(|collector| {
            let setting = HeapSetting { feature, update: None, bits, collector, options: options.clone() };
            let found = setting.mode_by_rules(heap, &AddressSpace::usual(bits));
            if found.mode.is_some_and(|found| mode.is_met_by(found)) { Ok(()) } else { Err(found.decided_by) }
        })
    }
}

/// Whether the JVM's log shows what was asked for; otherwise why the trial has failed.
pub fn check(wanted: RequestedMode, compact_headers: bool, read: &ModeRead) -> Result<(), String> {
    if !wanted.is_met_by(read.mode) {
        return Err(format!(
            "the JVM chose {} although {} was requested ({})",
            read.mode.name(),
            wanted.name(),
            read.evidence
        ));
    }
    match read.compact_headers {
        Some(found) if found != compact_headers => {
            let word = |on| if on { "compact" } else { "ordinary" };
            Err(format!(
                "the JVM uses {} object headers although {} ones were requested",
                word(found),
                word(compact_headers)
            ))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
#[path = "wanted_tests.rs"]
mod tests;
