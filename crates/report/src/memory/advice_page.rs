//! The limit that a process needs, as a page.

use super::facts;
use super::page::STYLE;
use assay_findings::{next_step, to_html, told};
use assay_kit::bar_rows::{self, Bar};
use assay_kit::number::bytes;
use assay_kit::page::{absent, drawings, figure};
use assay_kit::stack::fill_class;
use assay_kit::text::{clean, prose};
use assay_kit::{Answer, Page, Section, key};
use assay_model::{Advice, AdviceLine, Problem};
use std::io;

/// Fills of what a part holds now, and of what its budget adds to that.
const LOOKS: [usize; 2] = [0, 7];
/// Parts that the chart shows; the table has all.
const PARTS_DRAWN: usize = 10;

/// The limit as one HTML file that opens without a network: what it is made of, where each part's bound comes from, settings that
/// would lower it.
///
/// # Errors
/// Those of the writer.
pub fn render(advice: &Advice, out: &mut impl io::Write) -> io::Result<()> {
    let settings = told(&advice.settings, "lowers it by");
    let keep = format!("→ Set the limit to at least {}.", bytes(advice.limit_bytes));
    let answer = Answer {
        sentence: headline(advice),
        action: next_step(&settings, &keep),
        chart: chart(advice),
        rest: format!("<p class=\"sum\">{}</p>", prose(&facts::advice_sentence(advice))),
        ..Answer::default()
    };
    let none = "No setting is known that would lower it.";
    Page {
        style: STYLE,
        sections: vec![
            answer.section(),
            Section::new("parts", "Parts of the limit", facts::advice(advice).html()).called("Parts"),
            Section::new("settings", "Settings that would lower it", to_html(&settings, none))
                .called("Settings"),
            Section::problems(&Problem::listed(&advice.problems)),
        ],
        made_by: clean(&advice.provenance.assay_version),
        ..Page::new(
            "The memory limit that a process needs, by Assay",
            format!("Memory limit of {} ({})", clean(&advice.program), advice.pid),
        )
    }
    .write(out)
}

/// The limit, and that in force, in one sentence.
fn headline(advice: &Advice) -> String {
    let needed = advice.limit_bytes;
    let in_force = match advice.current_limit_bytes {
        Some(limit) if limit < needed => {
            format!("the limit in force, {}, is {} too small", bytes(limit), bytes(needed - limit))
        }
        Some(limit) => format!("the limit in force, {}, is enough", bytes(limit)),
        None => "no limit is in force".to_owned(),
    };
    format!("The process needs a limit of {}; {in_force}.", bytes(needed))
}

fn chart(advice: &Advice) -> String {
    let mut lines: Vec<&AdviceLine> = advice.lines.iter().filter(|line| line.bound_bytes > 0).collect();
    lines.sort_by_key(|line| std::cmp::Reverse(line.bound_bytes));
    lines.truncate(PARTS_DRAWN);
    if lines.is_empty() {
        return absent("no part of the limit is known");
    }
    let bar = |line: &&AdviceLine| {
        let (name, now) = (clean(&line.name), line.now_bytes.min(line.bound_bytes));
        let parts = [("now", now), ("beyond that", line.bound_bytes - now)].into_iter().zip(LOOKS);
        let part = |((which, size), look): ((&str, u64), usize)| {
            (size as f64, fill_class(look), format!("{name}, {which}: {}", bytes(size)))
        };
        Bar {
            value: format!("{} of {}", bytes(line.now_bytes), bytes(line.bound_bytes)),
            parts: parts.map(part).collect(),
            name: name.clone(),
        }
    };
    let bars: Vec<Bar> = lines.iter().map(bar).collect();
    let title = "Parts of the limit";
    let pictures =
        drawings("parts-bars", |width, id| bar_rows::bars(&bars, (None, None), width, (id, title)));
    let names = ["in use now", "budgeted beyond that"];
    let key = key::fills(LOOKS.into_iter().zip(names).map(|(look, name)| (fill_class(look), name)));
    let caption = "What each part holds now, and what the limit provides for it, the largest first.";
    figure("parts-figure", "answer", &key, &pictures, caption)
}
