//! A document as Markdown: for a wiki, a pull request or the summary of a build.

use super::{Block, Claim, Document, Figure, Finding, Step, Tone, left_out};
use crate::ink::Ink;
use crate::table::Table;
use crate::text::{clean, clean_lines, markdown};

/// Columns of a drawing in letters.
const DRAWING_COLUMNS: usize = 80;

impl Document {
    /// All of it, but for what only a page can show, which is listed at the end.
    pub fn markdown(&self) -> String {
        let mut out = vec![format!("# {}\n", markdown(&self.heading))];
        out.extend(self.lines.iter().map(|line| paragraph(&line.text)));
        if !self.answer.not_valid.is_empty() {
            out.push("**Not valid: do not use these figures.**\n".to_owned());
            out.push(items(&self.answer.not_valid));
        }
        out.push(format!("**{}**\n", markdown(&self.answer.sentence)));
        out.extend(self.answer.action_alone().map(paragraph));
        self.answer.chart.iter().for_each(|chart| figure(chart, &mut out));
        out.extend(self.answer.finding.iter().map(|of| findings(std::slice::from_ref(of)).markdown()));
        blocks(&self.answer.rest, &mut out);
        for section in &self.sections {
            let mut parts = Vec::new();
            blocks(&section.blocks, &mut parts);
            if !parts.is_empty() {
                out.push(format!("## {}\n", markdown(section.title)));
                out.append(&mut parts);
            }
        }
        if !self.problems.is_empty() {
            out.push("## Problems\n".to_owned());
            let rows = Table::of("What could not be read", &self.problems)
                .words("Source", |(about, _)| clean(about))
                .words("Problem", |(_, what)| clean(what));
            out.push(rows.table().markdown());
        }
        out.extend(left_out::sentence(self).map(|sentence| paragraph(&sentence)));
        out.join("\n")
    }
}

fn paragraph(text: &str) -> String {
    format!("{}\n", markdown(text))
}

fn items(items: &[String]) -> String {
    items.iter().map(|item| format!("- {}\n", markdown(item))).collect()
}

fn claims(all: &[Claim]) -> String {
    let claim = |of: &Claim| {
        let details = of.details.iter().map(|detail| format!("  {}\n", markdown(detail)));
        format!("- **{}**\n{}", markdown(&of.claim), details.collect::<String>())
    };
    all.iter().map(claim).collect()
}

fn table(table: &Table) -> Option<String> {
    (!table.rows.is_empty()).then(|| table.markdown())
}

fn blocks(blocks: &[Block], out: &mut Vec<String>) {
    blocks.iter().filter(|block| !block.is_empty()).for_each(|block| self::block(block, out));
}

fn block(block: &Block, out: &mut Vec<String>) {
    match block {
        Block::Heading(text) => out.push(format!("### {}\n", markdown(text))),
        Block::Text(Tone::Strong | Tone::Warning, text) => out.push(format!("**{}**\n", markdown(text))),
        Block::Text(Tone::Absent, why) => out.push(paragraph(&format!("not available: {why}"))),
        Block::Text(_, text) => out.push(paragraph(text)),
        Block::Items(_, all) => out.push(items(all)),
        Block::Terms(rows) => {
            let rows: Vec<String> = rows.iter().map(|(name, value)| format!("{name}: {value}")).collect();
            out.push(items(&rows));
        }
        Block::Table(of) => out.extend(table(of)),
        Block::Figure(figure) => match &figure.absent {
            Some(why) => out.push(paragraph(&format!("{}: {why}", figure.name))),
            None => self::figure(figure, out),
        },
        Block::Findings(found, none) if found.is_empty() => out.push(paragraph(none)),
        Block::Findings(found, _) => out.push(findings(found).markdown()),
        Block::Verbatim { name, text, language, .. } => {
            out.push(format!("### {}\n", markdown(name)));
            out.push(verbatim(language, text));
        }
        Block::Folded(summary, within) => {
            out.push(format!("### {}\n", markdown(summary)));
            blocks(within, out);
        }
        Block::Claims(all) => out.push(claims(all)),
        Block::Warnings(title, all) => {
            out.push(format!("### {}\n", markdown(title)));
            out.push(items(all));
        }
        Block::InFull(within) => blocks(within, out),
        Block::Key(_) | Block::PageOnly(_) => {}
    }
}

/// Its drawing in letters, then the numbers behind it.
fn figure(figure: &Figure, out: &mut Vec<String>) {
    if let Some(draw) = &figure.in_text {
        out.push(verbatim("", &draw(DRAWING_COLUMNS, Ink(false)).join("\n")));
    }
    if left_out::shows_behind(figure) {
        out.extend(figure.behind.iter().filter_map(table));
    }
}

/// A fence longer than any run of backticks in the text.
fn verbatim(language: &str, text: &str) -> String {
    let text = clean_lines(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end())
}

/// A row for each finding: how grave it is, the claim with its rule, what it rests on, the step with its alternatives.
fn findings(found: &[Finding]) -> Table {
    Table::of("Findings", found)
        .words("Severity", |finding| finding.severity.to_owned())
        .words("Finding", |finding| format!("{} ({})", finding.claim, finding.rule))
        .words("Evidence", |finding| {
            let at = (!finding.at.is_empty()).then(|| format!("[{}]", finding.at));
            finding.evidence.iter().cloned().chain(at).collect::<Vec<_>>().join("\n")
        })
        .words("What to do", |finding| finding.step.as_ref().map_or_else(String::new, Step::in_lines))
        .table()
}
