//! A document as a page.

use super::{Block, Claim, Document, Figure, Finding, Shown, Tone};
use crate::page::{self, Page, absent, lines_in_full, list};
use crate::table::Table;
use crate::text::{html, prose};
use askama::Template;
use std::fmt::Write as _;
use std::io;

#[derive(Template)]
#[template(path = "findings.html")]
struct Findings<'a> {
    findings: &'a [Finding],
}

impl Document {
    /// The page: one HTML file that opens without a network.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_html(&self, mut out: &mut dyn io::Write) -> io::Result<()> {
        let mut sections = vec![self.answer_section()];
        let parts = self.sections.iter().filter(|section| !section.blocks.iter().all(Block::is_empty));
        sections.extend(parts.map(|section| page::Section {
            id: section.id,
            title: section.title,
            short: section.short,
            html: blocks(&section.blocks, section.id),
            is_printed: section.is_printed,
        }));
        if self.has_problems_section || !self.problems.is_empty() {
            sections.push(page::Section::problems(&self.problems));
        }
        let mut page = Page {
            style: self.page.style,
            script: self.page.script,
            lines: self.lines.iter().map(|line| (line.class, line.text.clone())).collect(),
            whole: self.page.whole,
            sections,
            made_by: self.page.made_by.clone(),
            ..Page::new(&self.kind, &self.heading)
        };
        if !self.page.title.is_empty() {
            page.title.clone_from(&self.page.title);
        }
        page.write(&mut out)
    }

    fn answer_section(&self) -> page::Section {
        page::Answer {
            not_valid: self.answer.not_valid.clone(),
            sentence: self.answer.sentence.clone(),
            action: self.answer.action.clone(),
            chart: self.answer.chart.as_ref().map_or_else(String::new, |chart| figure(chart, "answer")),
            rest: findings(self.answer.finding.as_slice(), "") + &blocks(&self.answer.rest, "answer"),
        }
        .section()
    }
}

fn blocks(blocks: &[Block], section: &str) -> String {
    blocks.iter().filter(|block| !block.is_empty()).map(|of| block(of, section)).collect()
}

fn block(block: &Block, section: &str) -> String {
    match block {
        Block::Heading(text) => format!("<h3>{}</h3>\n", html(text)),
        Block::Text(tone, text) => paragraph(*tone, text),
        Block::Items(tone, all) => items(*tone, all),
        Block::Terms(rows) => list(rows.iter().map(|(name, value)| (name, value.clone()))),
        Block::Table(table) => table.html(),
        Block::Figure(of) => figure(of, section),
        Block::Key(marks) => marks.clone(),
        Block::Findings(found, none) => findings(found, none),
        Block::Verbatim { name, id, text, .. } => verbatim(name, *id, text),
        Block::Folded(summary, within) => {
            format!("<details><summary>{}</summary>{}</details>\n", html(summary), blocks(within, section))
        }
        Block::InFull(within) | Block::PageOnly(within) => blocks(within, section),
        Block::Claims(all) => claims(all),
        Block::Warnings(title, all) => {
            format!("<div class=\"cautions\"><h3>{}</h3>\n{}</div>\n", html(title), items(Tone::Plain, all))
        }
    }
}

/// Findings as a list; where there are none, `none` says so, or nothing does where it is empty.
pub fn findings(findings: &[Finding], none: &str) -> String {
    match (findings.is_empty(), none.is_empty()) {
        (true, true) => String::new(),
        (true, false) => format!("<p>{}</p>", html(none)),
        _ => Findings { findings }.to_string(),
    }
}

fn paragraph(tone: Tone, text: &str) -> String {
    let class = match tone {
        Tone::Plain => "",
        Tone::Strong => " class=\"sum\"",
        Tone::Explanation => " class=\"how\"",
        Tone::Warning => " class=\"cautions\"",
        Tone::Absent => return absent(text),
    };
    format!("<p{class}><bdi>{}</bdi></p>\n", prose(text))
}

fn items(tone: Tone, all: &[String]) -> String {
    let items: String = all.iter().map(|item| format!("<li><bdi>{}</bdi></li>\n", prose(item))).collect();
    match tone {
        Tone::Warning => format!("<div class=\"cautions\"><ul>{items}</ul></div>\n"),
        _ => format!("<ul>{items}</ul>\n"),
    }
}

fn claims(all: &[Claim]) -> String {
    let claim = |of: &Claim| {
        let details = of.details.iter().map(|detail| format!(" <span>{}</span>", prose(detail)));
        format!("<li><strong>{}</strong>{}</li>\n", prose(&of.claim), details.collect::<String>())
    };
    format!("<ul class=\"answer\">\n{}</ul>\n", all.iter().map(claim).collect::<String>())
}

fn verbatim(name: &str, id: Option<&str>, text: &str) -> String {
    let label = html(name);
    match id {
        Some(id) => page::copied_text(id, &label, &label, text),
        None => format!(
            "<details><summary>{label}</summary><pre tabindex=\"0\" aria-label=\"{label}\"><code><bdi>{}</bdi></code></pre></details>\n",
            lines_in_full(text)
        ),
    }
}

/// A figure, named by its own heading or by that of its section.
fn figure(of: &Figure, section: &str) -> String {
    let Figure { id, name, drawings, key, .. } = of;
    let id = html(id);
    let (labelled_by, heading) = match of.is_titled {
        true => (id.clone(), format!("<h3 id=\"{id}-h\">{}</h3>\n", html(name))),
        false => (section.to_owned(), String::new()),
    };
    if let Some(why) = &of.absent {
        return match of.is_titled {
            true => format!(
                "<figure id=\"{id}\" aria-labelledby=\"{labelled_by}-h\">{heading}<p class=\"absent\">{}</p></figure>\n",
                html(why)
            ),
            false => absent(why),
        };
    }
    if of.is_bare {
        return drawings.clone();
    }
    let mut caption = html(&of.caption);
    for note in &of.notes {
        let _ = write!(caption, " <span class=\"note\">{}</span>", html(note));
    }
    // Under a title the key comes first: it is read before the panels below it.
    let (before, after) = if of.is_titled { (key.as_str(), "") } else { ("", key.as_str()) };
    let is_shown = |table: &&Table| of.behind_shown != Shown::OtherForms && !table.rows.is_empty();
    let behind: String = of.behind.iter().filter(is_shown).map(Table::html).collect();
    let behind = match (behind.is_empty(), of.is_titled) {
        (true, _) => String::new(),
        (false, true) => {
            format!("<details><summary>Figures behind it: {}</summary>{behind}</details>", html(name))
        }
        (false, false) => format!("<details><summary>Figures behind it</summary>{behind}</details>"),
    };
    format!(
        "<figure id=\"{id}\" aria-labelledby=\"{labelled_by}-h\">{heading}{before}{drawings}{after}<figcaption>{caption}</figcaption>{behind}</figure>\n"
    )
}
