//! The verdict on growth over a record: a sentence, what grows, and what that rests on.

use assay_kit::Table;
use assay_kit::document::{Block, Section, Tone};
use assay_kit::number::{bytes, count, duration, percent, signed_bytes};
use assay_kit::text::{clean, sentence as sentence_of, to_the_second};
use assay_model::{Estimate, Grower, GrowthGround, GrowthKind, GrowthVerdict, MemoryReport};

/// The finding of a kill.
const KILLED: &str = "killed-at-limit";
/// Parts of a path that are shown.
const PATH_PARTS_MAX: usize = 8;
const MINUTE_S: f64 = 60.0;

/// The verdict in a sentence: what grows fastest, or why nothing does.
pub fn sentence(verdict: &GrowthVerdict) -> String {
    let over = format!("{} snapshots over {}", count(verdict.snapshots), duration(verdict.elapsed_ns));
    match verdict.kind {
        GrowthKind::Growing => match verdict.growing.split_first() {
            Some((first, more)) => {
                let more = match more.len() {
                    0 => String::new(),
                    1 => "; 1 more thing grows".to_owned(),
                    more => format!("; {more} more things grow"),
                };
                let since = to_the_second(&first.since);
                format!(
                    "Growing: {}, {}, since {since}{more} ({over})",
                    path_of(first),
                    rate(&first.rate_bytes_per_s)
                )
            }
            None => format!("Growing ({over})"),
        },
        GrowthKind::LevelledOff => format!("Levelled off: nothing grows noticeably any more ({over})"),
        GrowthKind::Garbage => {
            format!("Garbage, not a leak: only memory that collections free has grown ({over})")
        }
        GrowthKind::TooShort | GrowthKind::Other => {
            let when = verdict.come_back_after_ns.map_or_else(String::new, |ns| {
                format!(": come back after {} of recording more", duration(ns))
            });
            format!("Too short to tell{when} ({over})")
        }
    }
}

/// How the process ended, where its record says so: killed at which limit, and what grew before.
pub fn end_sentence(report: &MemoryReport) -> Option<String> {
    let end = report.end.as_ref()?;
    let killed = report.findings.iter().find(|found| found.rule == KILLED).filter(|_| end.is_killed());
    Some(match (killed, end.oom_kills) {
        (Some(found), _) => {
            // The counts stand with the finding; behind them stands what grew.
            let grew: Vec<String> = found.evidence.iter().skip(1).map(|text| clean(text)).collect();
            let claim = sentence_of(&clean(&found.claim));
            std::iter::once(claim).chain(grew).collect::<Vec<_>>().join("; ")
        }
        (None, Some(0)) => {
            "The process ended, and the kernel killed none of its control group for memory".to_owned()
        }
        (None, Some(_)) => {
            "The kernel killed a process of the control group for memory, and this one ended".to_owned()
        }
        (None, None) => {
            format!(
                "The process ended. This record does not show whether the kernel killed it for memory{}",
                charge(report)
            )
        }
    })
}

/// How full its container was at the last snapshot.
fn charge(report: &MemoryReport) -> String {
    let group = report.cgroup.as_ref();
    let of = group.and_then(|group| group.current_bytes.zip(group.limit_bytes));
    of.map_or_else(String::new, |(charged, limit)| {
        format!(
            "; at the last snapshot its container was charged {} of its limit of {}",
            percent(charged, limit),
            bytes(limit)
        )
    })
}

/// The verdict with everything that grows and what it rests on.
pub(super) fn section(verdict: &GrowthVerdict) -> Section {
    let mut blocks = vec![Block::Text(Tone::Strong, format!("{}.", sentence(verdict)))];
    blocks.extend(growing(verdict).unless_empty().map(Block::from));
    let evidence: Vec<String> = verdict.evidence.iter().map(|text| format!("{}.", clean(text))).collect();
    if !evidence.is_empty() {
        blocks.push(Block::Items(Tone::Plain, evidence));
    }
    Section::new("growth", "Growth", blocks)
}

fn growing(verdict: &GrowthVerdict) -> Table {
    Table::of("What grows, the fastest first", &verdict.growing)
        .words("What", |grower| path_of(grower))
        .figures("Rate, with 95 % interval", |grower| rate(&grower.rate_bytes_per_s))
        .words("Since", |grower| to_the_second(&grower.since))
        .figures("Before", |grower| bytes(grower.before_bytes))
        .if_room()
        .figures("Now", |grower| bytes(grower.after_bytes))
        .words("Counted", |grower| counted(grower.ground))
        .if_room()
        .words("What it means", |grower| clean(&grower.explanation))
        .below()
        .class("entries")
}

fn counted(ground: GrowthGround) -> &'static str {
    match ground {
        GrowthGround::Resident => "resident bytes",
        GrowthGround::LiveObjects => "live objects",
        GrowthGround::AfterCollections => "heap after collections",
        GrowthGround::Other => "",
    }
}

/// What grows, from its area to its owner.
pub(super) fn path_of(grower: &Grower) -> String {
    grower.path.iter().take(PATH_PARTS_MAX).map(|part| clean(part)).collect::<Vec<_>>().join(": ")
}

/// A rate by the minute.
fn rate(per_s: &Estimate) -> String {
    let by_minute = |value: f64| signed_bytes((value * MINUTE_S) as i64);
    let ends = per_s
        .ends()
        .map_or_else(String::new, |(low, high)| format!(" ({} to {})", by_minute(low), by_minute(high)));
    format!("{} a minute{ends}", by_minute(per_s.estimate))
}
