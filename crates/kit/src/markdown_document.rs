//! A result as Markdown, for a wiki, a pull request or the summary of a build: the answer, then the tables of its page.

use crate::table::Table;
use crate::text;

/// What is written: texts are escaped when they are.
pub struct MarkdownDocument {
    /// Name of what it is about.
    pub heading: String,
    /// Lines under it: what was measured, where, when.
    pub lines: Vec<String>,
    /// The answer, in sentences; the first stands out.
    pub answer: Vec<String>,
    /// Tables; those without a row are left out.
    pub tables: Vec<Table>,
    /// What could not be read: what each problem is about, and what is wrong.
    pub problems: Vec<(String, String)>,
}

impl MarkdownDocument {
    /// With a heading and its answer, and nothing below yet.
    pub fn new(heading: impl Into<String>, answer: impl IntoIterator<Item = String>) -> Self {
        let answer = answer.into_iter().filter(|sentence| !sentence.is_empty()).collect();
        MarkdownDocument {
            heading: heading.into(),
            lines: Vec::new(),
            answer,
            tables: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// All of it.
    pub fn markdown(self) -> String {
        let mut parts = vec![format!("# {}\n", text::markdown(&self.heading))];
        parts.extend(self.lines.iter().map(|line| format!("{}\n", text::markdown(line))));
        parts.extend(self.answer.iter().enumerate().map(|(index, sentence)| {
            let sentence = text::markdown(sentence);
            if index == 0 { format!("**{sentence}**\n") } else { format!("{sentence}\n") }
        }));
        let problems = Table::of("What could not be read", &self.problems)
            .words("Source", |(about, _)| text::clean(about))
            .words("Problem", |(_, what)| text::clean(what));
        let tables = self.tables.into_iter().chain([problems.table()]).filter_map(Table::unless_empty);
        parts.extend(tables.map(|table| table.markdown()));
        parts.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_comes_first_and_empty_tables_are_left_out() {
        let table = |rows: &[u32]| Table::of("Of <it>", rows).words("N", |n| n.to_string()).table();
        let document = MarkdownDocument {
            lines: vec!["pid 7".to_owned()],
            tables: vec![table(&[]), table(&[3])],
            problems: vec![("a|b".to_owned(), "gone".to_owned())],
            ..MarkdownDocument::new(
                "x",
                ["All is *well*.".to_owned(), String::new(), "→ Do this.".to_owned()],
            )
        };
        let wanted = "# x\n\npid 7\n\n**All is \\*well\\*.**\n\n→ Do this.\n\n\
                      **Of &lt;it&gt;**\n\n| N |\n| --- |\n| 3 |\n\n\
                      **What could not be read**\n\n| Source | Problem |\n| --- | --- |\n| a\\|b | gone |\n";
        assert_eq!(document.markdown(), wanted);
    }
}
