//! What of the Java heap is alive, and what holds it.

use assay_kit::Table;
use assay_kit::document::{Block, Section, Tone};
use assay_kit::number::{bytes, count, percent};
use assay_kit::text::clean;
use assay_model::{HeapHolder, HeapLive};

/// Holders that are listed.
const HOLDERS_LISTED: usize = 24;
/// Classes that are named of what each holds.
const CLASSES_NAMED: usize = 3;

/// How much is alive and how much is garbage, and the holders, the largest first.
pub(super) fn section(live: &HeapLive) -> Section {
    let sentence = Block::Text(Tone::Strong, format!("{}.", sentence(live)));
    let ground = Block::explanation(
        "By a mark from outside: statics, thread-locals, threads, and everything else that looks like a \
            reference into the heap. Each object counts once, for the first of these that leads to it.",
    );
    let holders = holders(live).unless_empty().map(Block::from);
    Section::new("live", "Live objects", [sentence, ground].into_iter().chain(holders))
}

/// Live objects and garbage, in a sentence.
fn sentence(live: &HeapLive) -> String {
    let all = live.live_bytes.saturating_add(live.dead_bytes);
    let (alive, dead) = (bytes(live.live_bytes), bytes(live.dead_bytes));
    let share = percent(live.dead_bytes, all);
    if live.is_partial {
        return format!(
            "{} of Java objects: at least {alive} are alive and at most {dead} ({share}) are garbage. The \
                mark took too long",
            bytes(all)
        );
    }
    let on_stacks = match live.unsure_bytes {
        0 => String::new(),
        held => format!(
            ". {} of the live objects may be garbage: only words that look like references lead to them, on stacks \
                and in native memory",
            bytes(held)
        ),
    };
    format!("{} of Java objects: {alive} are alive, {dead} ({share}) are garbage{on_stacks}", bytes(all))
}

fn holders(live: &HeapLive) -> Table {
    let of = live.holders.iter().take(HOLDERS_LISTED);
    Table::of("What holds the live objects, the most bytes first", of)
        .words("Held by", |holder| format!("{} {}", holder.kind, clean(&holder.name)))
        .figures("Live", |holder| bytes(holder.bytes))
        .figures("Objects", |holder| count(holder.objects))
        .if_room()
        .words("Most of it", |holder| most(holder))
        .below()
        .class("entries")
}

fn most(holder: &HeapHolder) -> String {
    let classes = holder.classes.iter().take(CLASSES_NAMED);
    classes.map(|of| format!("{} {}", clean(&of.class), bytes(of.bytes))).collect::<Vec<_>>().join(", ")
}
