//! Huge pages that the kernel gives where little of them is used.

use super::rule::{Found, Judge, Rule, finding, matters};
use super::words::{bytes, is_on, of_area, total};
use assay_model::{Area, MemoryReport, RuleId, Severity, Threshold};

pub(super) static RULES: &[&Rule] = &[&HUGE_PAGES_IN_STACKS, &HUGE_PAGES_UNREQUESTED];

/// Servers were measured at 50 to 110 KiB a thread; with a huge page beneath it a stack has 2 MiB.
const INFLATED: Threshold = Threshold::bytes("inflated", 1 << 20);
/// The assumed need of a stack where all of them are inflated.
const STACK_USUAL_BYTES: u64 = 128 << 10;
/// Stacks in a row that look inflated: one deep recursion is not a pattern.
const STACKS: Threshold = Threshold::count("stacks", 8);
/// Less in huge pages is a stack or two.
const HUGE: Threshold = Threshold::bytes("huge", 64 << 20);
/// Share of what is free or beside the heap that must lie in huge pages to be called their doing.
const HUGE_SHARE: Threshold = Threshold::percent("huge_share", 25.0);

static HUGE_PAGES_IN_STACKS: Rule = Rule {
    id: RuleId::of("huge-pages-in-stacks"),
    severity: Severity::Warning,
    thresholds: &[STACKS, INFLATED],
    evidence: "Stacks with at least {inflated} resident ({stacks} or more), the size of the other stacks, and \
        the process's huge pages.",
    cause: "With transparent huge pages set to `always`, the first touch makes a whole huge page of a stack resident (JDK-8303215).",
    fix: "`echo madvise > /sys/kernel/mm/transparent_hugepage/enabled`",
    alternatives: &[
        "Use a JDK update from 2024 on.",
        "Set `-Xss1020k`, which is not a multiple of the huge page size.",
    ],
    judge: Judge::of(huge_pages_in_stacks).about(|path| Area::of_path(path) == Some(Area::Stacks)),
};

/// Stacks that a huge page made resident as a whole.
fn huge_pages_in_stacks(report: &MemoryReport) -> Option<Found> {
    let huge = report.outside_rss.huge_pages_bytes.filter(|huge| *huge != 0)?;
    let inflated: Vec<u64> = report
        .threads
        .iter()
        .map(|thread| thread.stack_resident_bytes)
        .filter(|resident| INFLATED.whole() <= *resident)
        .collect();
    if (inflated.len() as u64) < STACKS.whole() {
        return None;
    }
    // These would need as much as the other stacks do.
    let others = report.threads.len() - inflated.len();
    let usual = report.threads.iter().map(|t| t.stack_resident_bytes).filter(|b| *b < INFLATED.whole());
    let usual = usual.fold(0, u64::saturating_add).checked_div(others as u64).unwrap_or(STACK_USUAL_BYTES);
    let all = total(&inflated);
    let gain = all.saturating_sub(usual.saturating_mul(inflated.len() as u64)).min(huge);
    matters(report, gain).then(|| {
        finding(
            &HUGE_PAGES_IN_STACKS,
            format!("huge pages make {} thread stacks resident beyond what they need", inflated.len()),
            format!(
                "{} stacks have {} resident, the others {} each; {} of the process is in huge pages",
                inflated.len(),
                bytes(all),
                bytes(usual),
                bytes(huge)
            ),
            "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled".to_owned(),
            Some(gain),
        )
        .of_resident(all)
        .or("Use a JDK update from 2024 on, which keeps huge pages out of stacks (JDK-8303215)")
        .or("Set -Xss1020k, which is not a multiple of the huge page size")
    })
}

static HUGE_PAGES_UNREQUESTED: Rule = Rule {
    id: RuleId::of("huge-pages-unrequested"),
    severity: Severity::Warning,
    thresholds: &[HUGE, HUGE_SHARE],
    evidence: "Bytes in huge pages (from {huge} on), and resident freed memory and stacks, at least \
        {huge_share} as much.",
    cause: "Transparent huge pages are set to `always`: the kernel also gives them where little of each is used.",
    fix: "`echo madvise > /sys/kernel/mm/transparent_hugepage/enabled`",
    alternatives: &[
        "Do the same and ask for huge pages for the Java heap alone: `-XX:+UseTransparentHugePages`.",
    ],
    judge: Judge::of(huge_pages_unasked).about(needs_small_pages),
};

/// Freed memory and stacks use little of a huge page.
fn needs_small_pages(path: &[String]) -> bool {
    matches!(Area::of_path(path), Some(Area::FreedResident | Area::Stacks))
}

/// Huge pages that nobody asked for, in memory that is mostly free.
fn huge_pages_unasked(report: &MemoryReport) -> Option<Found> {
    let jvm = report.jvm.as_ref()?;
    let huge = report.outside_rss.huge_pages_bytes.filter(|huge| HUGE.whole() <= *huge)?;
    if is_on(jvm, "UseTransparentHugePages")? {
        return None;
    }
    // The heap and live buffers use what they touch: there huge pages cost nothing.
    let freed = of_area(report, Area::FreedResident).saturating_add(of_area(report, Area::Stacks));
    if freed < HUGE_SHARE.share_of(huge) || !matters(report, freed) {
        return None;
    }
    let found = finding(
        &HUGE_PAGES_UNREQUESTED,
        "the kernel gives huge pages unasked, also where little of them is used".to_owned(),
        format!(
            "{} in huge pages; freed memory and stacks, which need small ones, have {} resident",
            bytes(huge),
            bytes(freed)
        ),
        "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled".to_owned(),
        None,
    );
    Some(found.or("Do the same and ask for huge pages for the Java heap alone: -XX:+UseTransparentHugePages"))
}
