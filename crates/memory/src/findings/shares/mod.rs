//! Large shares of RSS of which no special rule speaks: each with its owner, its largest holder and the next step. What an area means, and
//! what helps, stands in `areas`.

mod areas;
mod share;

use super::rule::{Found, finding};
use super::words::{bytes, kinds_of_memory, percent};
use areas::Words;
use assay_model::{Area, MemoryEntry, MemoryReport, PageKinds, RuleId, Severity, Threshold};
use share::Share;
use std::collections::BTreeMap;

/// A fifth of a process is what its owner asks about.
const SHARE: Threshold = Threshold::percent("share", 20.0);
/// An idle JVM of some 40 MiB has a class-data archive and code of its own: there every part is a large share.
const SIZE: Threshold = Threshold::bytes("size", 16 << 20);

pub(super) static LARGE_SHARE: assay_model::Rule<()> = assay_model::Rule {
    id: RuleId::of("large-share"),
    severity: Severity::Warning,
    thresholds: &[SHARE, SIZE],
    evidence: "Resident bytes of one owner without another finding, from {share} of RSS and {size} on, with \
        its largest holder. An owner is a class of Java objects, a library, a folder of shared memory, or an \
        area of the JVM. Java objects themselves and the code of the JVM do not count.",
    cause: "The named owner allocated the memory and has not freed it.",
    fix: "The finding names the step for the owner: closing held objects, a malloc profiler for a library, \
        `jcmd` for the JVM's own areas.",
    alternatives: &[],
    judge: (),
};

/// A finding for each large share, but of what is spoken of already.
pub(super) fn large_shares(report: &MemoryReport, is_spoken_of: impl Fn(&[String]) -> bool) -> Vec<Found> {
    let mut shares: BTreeMap<(Area, Option<&str>), Share<'_>> = BTreeMap::new();
    for entry in report.entries.iter().filter(|entry| !is_spoken_of(&entry.path)) {
        let Some((area, part)) = owner(&entry.path) else { continue };
        let share = shares.entry((area, part)).or_insert_with(|| Share {
            area,
            part,
            memory_bytes: 0,
            entries: Vec::new(),
        });
        share.memory_bytes = share.memory_bytes.saturating_add(entry.bytes_of_memory());
        share.entries.push(entry);
    }
    let least = SHARE.share_of(report.bytes_of_memory()).max(SIZE.whole());
    let large = shares.values().filter(|share| least <= share.memory_bytes);
    large.map(|share| found(share, report)).collect()
}

/// Who owns an entry: an area, or a part of it where parts have nothing to do with each other. None for what every JVM has: Java objects,
/// which a heap is for, its own code, and the archive of the JDK's classes.
fn owner(path: &[String]) -> Option<(Area, Option<&str>)> {
    let part = path.get(1).map(String::as_str);
    match (Area::of_path(path)?, part) {
        (Area::JavaHeap, _)
        | (Area::Code, Some("libjvm.so"))
        | (Area::ClassMetadata, Some("CDS archive")) => None,
        (area @ (Area::Buffers | Area::NativeLibraries | Area::Code | Area::Other), part) => {
            Some((area, part))
        }
        (area, _) => Some((area, None)),
    }
}

fn found(share: &Share<'_>, report: &MemoryReport) -> Found {
    let Words { claim, details, step, alternatives } = areas::words(share, report);
    let blocks = share.entries.iter().filter_map(|entry| entry.count).fold(0u64, u64::saturating_add);
    let blocks = Some(blocks).filter(|blocks| *blocks != 0 && share.area != Area::ClassMetadata);
    let of_rss = format!("{} of RSS", percent(share.memory_bytes, report.rss_bytes));
    let evidence = std::iter::once(of_rss)
        .chain(
            blocks.map(|blocks| if blocks == 1 { "1 piece".to_owned() } else { format!("{blocks} pieces") }),
        )
        .chain(details)
        .chain(kind_of_pages(&share.entries))
        .collect::<Vec<String>>()
        .join("; ");
    let found = finding(&LARGE_SHARE, claim, evidence, step, None).of_resident(share.memory_bytes);
    alternatives.into_iter().fold(found, Found::or)
}

/// What the kernel can do with most of the pages; nothing where they are private memory in small pages, as nearly all is.
fn kind_of_pages(entries: &[&MemoryEntry]) -> Option<String> {
    let kinds = entries.iter().map(|entry| kinds_of_memory(entry));
    let pages: PageKinds = kinds.reduce(|all, of| Some(all?.and(of?))).flatten()?;
    let all = pages.private_bytes.saturating_add(pages.shared_bytes).saturating_add(pages.droppable_bytes);
    let kinds = [
        (pages.droppable_bytes, "pages of files, which the kernel can drop"),
        (pages.shared_bytes, "shared memory, which stays until it is deleted"),
        (pages.huge_bytes.unwrap_or(0), "in huge pages"),
    ];
    let most = kinds.into_iter().filter(|(of, _)| *of != 0 && all / 2 <= *of);
    let most: Vec<String> = most.map(|(of, what)| format!("{} {what}", bytes(of))).collect();
    (!most.is_empty()).then(|| format!("of it {}", most.join(", ")))
}
