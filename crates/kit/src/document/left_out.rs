//! What a form leaves out, by name, so that it can be listed there.

use super::{Block, Document, Figure, Shown, Tone};

/// Names of what a form leaves out.
#[derive(Default)]
struct LeftOut {
    charts: Vec<String>,
    others: Vec<String>,
}

/// A sentence that lists what only the page has; absent where nothing is left out.
pub fn sentence(document: &Document) -> Option<String> {
    let mut left_out = LeftOut::default();
    document.answer.chart.iter().for_each(|chart| left_out.chart(chart));
    document.answer.rest.iter().for_each(|block| left_out.shown(block, ""));
    for section in &document.sections {
        let is_whole = section.blocks.iter().all(|block| block.is_empty() || is_left_out(block));
        if is_whole && !section.blocks.iter().all(Block::is_empty) {
            left_out.others.push(section.title.to_owned());
            continue;
        }
        section.blocks.iter().for_each(|block| left_out.shown(block, section.title));
    }
    let LeftOut { charts, mut others, .. } = left_out;
    others.dedup();
    let charts = match charts.as_slice() {
        [] => None,
        [one] => Some(format!("the chart of {one}")),
        all => Some(format!("the charts: {}", all.join(", "))),
    };
    let all: Vec<String> = charts.into_iter().chain(others).collect();
    (!all.is_empty()).then(|| format!("Only on the page: {}.", all.join("; ")))
}

/// Whether a form without pictures has nothing of a block.
fn is_left_out(block: &Block) -> bool {
    matches!(block, Block::Key(_) | Block::PageOnly(_))
}

impl LeftOut {
    fn chart(&mut self, figure: &Figure) {
        if figure.absent.is_none() && figure.in_text.is_none() {
            self.charts.push(figure.name.clone());
        }
    }

    /// What is left out of a block that the form shows.
    fn shown(&mut self, block: &Block, place: &str) {
        match block {
            Block::Figure(figure) => self.chart(figure),
            Block::PageOnly(blocks) => blocks.iter().for_each(|block| self.hidden(block, place)),
            Block::Folded(_, blocks) | Block::InFull(blocks) => {
                blocks.iter().for_each(|block| self.shown(block, place));
            }
            _ => {}
        }
    }

    /// The name of a block that the form does not show.
    fn hidden(&mut self, block: &Block, place: &str) {
        match block {
            _ if block.is_empty() => {}
            Block::Table(table) => self.others.push(table.caption.clone()),
            Block::Figure(figure) => self.chart(figure),
            Block::Folded(name, _) | Block::Verbatim { name, .. } => self.others.push(name.clone()),
            Block::PageOnly(blocks) | Block::InFull(blocks) => {
                blocks.iter().for_each(|block| self.hidden(block, place));
            }
            // What explains a table or a chart, and the heading over it, go with it.
            Block::Heading(_) | Block::Key(_) | Block::Text(Tone::Explanation | Tone::Absent, _) => {}
            Block::Claims(_) => self.others.push("the answer in other figures".to_owned()),
            Block::Warnings(title, _) => self.others.push(title.clone()),
            Block::Text(..) | Block::Items(..) | Block::Terms(_) | Block::Findings(..) => {
                self.others.extend((!place.is_empty()).then(|| format!("{place}, in full")));
            }
        }
    }
}

/// Whether forms without drawings show the numbers behind a figure.
pub fn shows_behind(figure: &Figure) -> bool {
    figure.absent.is_none() && figure.behind_shown != Shown::PageOnly
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Answer;
    use crate::table::Table;

    fn of(shown: Shown) -> (String, String) {
        let mut table = Table::new("Numbers behind it", &["Name"], 1);
        table.push(["a"]);
        let figure = Figure::new("f", "bars", "<svg></svg>").behind([table], shown);
        let answer = Answer { chart: Some(figure), ..Answer::default() };
        let document = Document::new("A kind", "A heading", answer);
        let mut page = Vec::new();
        document.write_html(&mut page).expect("a vector takes all");
        (String::from_utf8(page).expect("UTF-8"), document.markdown())
    }

    #[test]
    fn the_numbers_behind_a_figure_are_shown_where_it_says() {
        for (shown, on_page, elsewhere) in [
            (Shown::Everywhere, true, true),
            (Shown::PageOnly, true, false),
            (Shown::OtherForms, false, true),
        ] {
            let (page, markdown) = of(shown);
            assert_eq!(
                (page.contains("Numbers behind it"), markdown.contains("Numbers behind it")),
                (on_page, elsewhere)
            );
            assert!(markdown.contains("Only on the page: the chart of bars."), "{markdown}");
        }
    }
}
