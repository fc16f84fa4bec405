//! The one way to build a page: a head, sections in order with a navigation over them, styles and scripts inside.
//!
//! Pages open without a network. Styles and scripts are in `web/`, where their tests are.

use crate::table::Table;
use crate::text::{clean, clean_lines, html, prose};
use askama::Template;
use std::io;

/// Styles that every page has.
const STYLE: &str = include_str!("../../../web/report.css");
/// Scripts that every page has, each after those that it uses.
const SCRIPT: &str = concat!(
    include_str!("../../../web/report.js"),
    include_str!("../../../web/numbers.js"),
    include_str!("../../../web/chart.js"),
    include_str!("../../../web/tables.js"),
    include_str!("../../../web/flames.js"),
    include_str!("../../../web/timeline.js"),
    include_str!("../../../web/marks.js"),
    include_str!("../../../web/save.js"),
);

/// A page. Texts are escaped when written; only the sections' `html` is taken as it is.
#[derive(Template)]
#[template(path = "page.html")]
pub(crate) struct Page {
    /// Styles of this kind of page.
    pub style: &'static str,
    /// Scripts of this kind of page.
    pub script: &'static str,
    /// What the browser's tab shows.
    pub title: String,
    /// What kind of page it is, over the heading.
    pub kind: String,
    /// Name of what it is about.
    pub heading: String,
    /// Lines under the heading, each with its class; an empty class for none.
    pub lines: Vec<(&'static str, String)>,
    /// What the navigation calls the whole: `page`, `report`.
    pub whole: &'static str,
    /// Sections; the first holds the answer.
    pub sections: Vec<Section>,
    /// Version that made it, and from what: the footer.
    pub made_by: String,
}

impl Page {
    /// A page without sections, made by this version of the program.
    pub fn new(kind: impl Into<String>, heading: impl Into<String>) -> Self {
        let heading = heading.into();
        Page {
            style: "",
            script: "",
            title: format!("{heading}: Assay"),
            kind: kind.into(),
            heading,
            lines: Vec::new(),
            whole: "page",
            sections: Vec::new(),
            made_by: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// Writes it.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&self, out: &mut impl io::Write) -> io::Result<()> {
        self.write_into(out)
    }
}

/// A part of a page.
pub(crate) struct Section {
    /// Anchor, unique in the page. `answer` is where the page's first link leads.
    pub id: &'static str,
    /// Heading.
    pub title: &'static str,
    /// What the navigation calls it.
    pub short: &'static str,
    /// Content, made of escaped text.
    pub html: String,
    /// Whether it is printed, too: a printed page has the answer and what proves it.
    pub is_printed: bool,
}

impl Section {
    /// A section that the navigation calls by its heading.
    pub fn new(id: &'static str, title: &'static str, html: String) -> Self {
        Section { id, title, short: title, html, is_printed: true }
    }

    /// What could not be read, or that there is nothing of it.
    pub fn problems(problems: &[(String, String)]) -> Self {
        Section::new("problems", "Problems", problems_html(problems, "read"))
    }
}

/// What the first screen of a page shows: one sentence that answers, one step to take, one chart; the rest stands below.
#[derive(Default)]
pub(crate) struct Answer {
    /// Why the figures must not be used: that stands over all, the reasons below the chart. Empty where they may.
    pub not_valid: Vec<String>,
    /// The answer.
    pub sentence: String,
    /// What to do about it; empty where nothing is known.
    pub action: String,
    /// The chart. HTML made of escaped text.
    pub chart: String,
    /// What explains and proves it. HTML made of escaped text.
    pub rest: String,
}

impl Answer {
    /// As the first section of a page.
    pub fn section(&self) -> Section {
        let action = match &*self.action {
            "" => String::new(),
            action => format!("<p class=\"action\"><bdi>{}</bdi></p>\n", prose(action)),
        };
        let sentence = prose(&self.sentence);
        let (mut warning, mut why) = (String::new(), String::new());
        if !self.not_valid.is_empty() {
            warning += "<p class=\"cautions\"><strong>Not valid: do not use these figures.</strong> The reasons are below the chart.</p>\n";
            let reasons =
                self.not_valid.iter().map(|reason| format!("<li><bdi>{}</bdi></li>\n", prose(reason)));
            let reasons: String = reasons.collect();
            why = format!("<div class=\"cautions\"><h3>Why it is not valid</h3>\n<ul>{reasons}</ul></div>\n");
        }
        let html = format!(
            "{warning}<p class=\"headline\"><bdi>{sentence}</bdi></p>\n{action}{}\n{why}{}",
            self.chart, self.rest
        );
        Section::new("answer", "Answer", html)
    }
}

/// A table of problems, each with what it is about; or a sentence that all could be `done`.
pub(crate) fn problems_html(problems: &[(String, String)], done: &str) -> String {
    if problems.is_empty() {
        return format!("<p>None: nothing failed to be {done}.</p>");
    }
    let table = Table::of("What could not be read", problems);
    table.words("Source", |p| clean(&p.0)).words("Problem", |p| clean(&p.1)).table().html()
}

/// Both drawings of a picture, for screens and for phones, of which the page shows one; `draw` gets width and id.
pub fn drawings(id: &str, draw: impl Fn(f64, &str) -> String) -> String {
    drawings_if_any(id, |width, id| Some(draw(width, id))).unwrap_or_default()
}

/// The same of a picture that may have nothing to show.
pub fn drawings_if_any(id: &str, draw: impl Fn(f64, &str) -> Option<String>) -> Option<String> {
    let (wide, narrow) = (draw(960.0, &format!("{id}-wide"))?, draw(344.0, &format!("{id}-narrow"))?);
    Some(format!("<div class=\"map-wide\">{wide}</div><div class=\"map-narrow\">{narrow}</div>"))
}

/// Pictures beside each other, each under its name.
pub fn panels(of: impl Iterator<Item = (String, String)>) -> String {
    let panel = |(name, picture): (String, String)| {
        format!("<div class=\"panel\"><p class=\"panel-name\"><bdi>{}</bdi></p>{picture}</div>", html(&name))
    };
    format!("<div class=\"panels\">{}</div>", of.map(panel).collect::<String>())
}

/// Why there is nothing to show.
pub(crate) fn absent(why: &str) -> String {
    format!("<p class=\"absent\">not available: {}</p>", html(why))
}

/// Terms with their values.
pub(crate) fn list<N: AsRef<str>>(rows: impl IntoIterator<Item = (N, String)>) -> String {
    let row = |(name, value): (N, String)| {
        format!("<div><dt>{}</dt><dd><bdi>{}</bdi></dd></div>", html(name.as_ref()), html(&value))
    };
    format!("<dl>{}</dl>", rows.into_iter().map(row).collect::<String>())
}

/// Text shown as it is, with a button that copies it (`web/csv.js`); each line is escaped in full.
pub(crate) fn copied_text(id: &str, label: &str, summary: &str, text: &str) -> String {
    format!(
        "<details id=\"csv\"><summary>{summary}</summary>\
         <p><button type=\"button\" id=\"copy-csv\" hidden>Copy</button> <span id=\"copied\" role=\"status\"></span></p>\
         <pre id=\"{id}\" tabindex=\"0\" aria-label=\"{label}\">{}</pre></details>",
        lines_in_full(text)
    )
}

/// A text of several lines, escaped and not shortened.
pub(crate) fn lines_in_full(text: &str) -> String {
    let escaped: Vec<String> = clean_lines(text).lines().map(line_in_full).collect();
    escaped.join("\n")
}

/// `html` shortens what is longer than a text should be.
fn line_in_full(line: &str) -> String {
    let chars: Vec<char> = line.chars().collect();
    chars.chunks(1_000).map(|part| html(&part.iter().collect::<String>())).collect()
}
