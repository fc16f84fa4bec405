//! The picture of a state, drawn into cells. Pure: the same state gives the same cells.

use super::state::{Page, State};
use assay_model::{Area, MemoryReport};
use assay_report::memory::{WatchOrder, WatchRow, owners_left_out_sentence};
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Text};
use ratatui::widgets::{Cell, Paragraph, Row, StatefulWidget, Table, TableState, Widget, Wrap};

/// From here on the column of owners, and that of growth, has room beside the curve.
const COLUMNS_OF_GROWTH: u16 = 76;
/// From here on growth since the start has, too.
const COLUMNS_OF_ALL: u16 = 100;
/// The longest name of an area.
const NAME: u16 = 25;
/// `1,234,567.8 MiB` does not occur; `123,456.7 MiB` does.
const BYTES: u16 = 13;
/// Above the table.
const HEADER_ROWS: u16 = 3;

const HELP: [&str; 12] = [
    "q, Ctrl-C   end; the last picture stays on the terminal",
    "↑ ↓, k j    choose an area, scroll its entries",
    "Enter       the entries of the chosen area: who owns its bytes",
    "Esc         back",
    "s           order: growth, size, name",
    "p           pause the display; measuring goes on",
    "t           have the JVM give freed memory back (asks first)",
    "",
    "resident: quick snapshots, which leave malloc's blocks in one row.",
    "with owners: the latest full snapshot, which divides them.",
    "Each of the two columns adds up to the RSS of its snapshot.",
    "-: not known from this kind of snapshot.",
];

/// Draws a state.
pub fn draw(state: &State, is_coloured: bool, area: Rect, cells: &mut Buffer) {
    let [above, keys] = parts(area);
    draw_result(state, is_coloured, above, cells);
    Line::from(keys_of(state, area.width)).style(Style::new().dim()).render(keys, cells);
}

/// The picture without the line of keys, as it is left on the terminal: lines without control sequences.
pub fn last_lines(state: &State, width: u16, rows: u16) -> Vec<String> {
    let area = Rect::new(0, 0, width, rows);
    let mut cells = Buffer::empty(area);
    draw_result(state, false, parts(area)[0], &mut cells);
    let mut lines = lines(&cells);
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// The rows of a buffer as text.
fn lines(cells: &Buffer) -> Vec<String> {
    let area = cells.area;
    let row = |y| (area.left()..area.right()).map(|x| cells[(x, y)].symbol()).collect::<String>();
    (area.top()..area.bottom()).map(|y| row(y).trim_end().to_owned()).collect()
}

fn parts(area: Rect) -> [Rect; 2] {
    let above = area.height.saturating_sub(1);
    let rect = |y, height| Rect { y: area.y + y, height, ..area };
    [rect(0, above), rect(above, area.height - above)]
}

fn draw_result(state: &State, is_coloured: bool, area: Rect, cells: &mut Buffer) {
    let header = Rect { height: HEADER_ROWS.min(area.height), ..area };
    let body = Rect { y: area.y + header.height, height: area.height - header.height, ..area };
    let Some(last) = state.picture().last() else {
        Paragraph::new("the first snapshot is being taken").render(area, cells);
        return;
    };
    Paragraph::new(vec![title(state, last), times(state, last)]).render(header, cells);
    match state.page() {
        None => draw_areas(state, is_coloured, body, cells),
        Some(Page::Entries(of)) => draw_entries(state, *of, is_coloured, body, cells),
        Some(Page::Help) => draw_text(&HELP, body, cells),
        Some(Page::AskTrim) => draw_text(
            &[
                "Have the JVM give freed memory back to the kernel?",
                "",
                "It runs System.trim_native_heap, as for `jcmd`. Threads that allocate native memory wait \
                    during that time, and the thread that serves the request stays in the JVM.",
                "",
                "y  yes        any other key  no",
            ],
            body,
            cells,
        ),
        Some(Page::Trimmed(said)) => draw_text(said, body, cells),
    }
}

fn title(state: &State, last: &MemoryReport) -> Line<'static> {
    let paused = if state.is_paused() { "  paused" } else { "" };
    Line::from(format!("{} (pid {}){paused}", printable(&last.program), last.pid)).style(Style::new().bold())
}

fn times(state: &State, last: &MemoryReport) -> Line<'static> {
    let owners = match state.picture().owners() {
        Some(snapshot) => format!(", with owners at {}", time_of_day(&snapshot.taken_at)),
        None => String::new(),
    };
    Line::from(format!("{}, {} snapshots{owners}", time_of_day(&last.taken_at), state.picture().snapshots()))
}

/// Hours, minutes and seconds of a stored time, and its zone.
fn time_of_day(taken_at: &str) -> String {
    let Some((_, time)) = taken_at.split_once('T') else { return printable(taken_at) };
    let zone = if time.ends_with('Z') { "Z" } else { "" };
    format!("{}{zone}", printable(time.split('.').next().unwrap_or(time).trim_end_matches('Z')))
}

/// A name of another process's commands no terminal.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{FFFD}' } else { c }).collect()
}

fn draw_areas(state: &State, is_coloured: bool, area: Rect, cells: &mut Buffer) {
    let notice = state.picture().last().and_then(|snapshot| snapshot.owners_left_out.as_ref());
    let notice = notice.map(owners_left_out_sentence);
    let area = below_notice(notice.as_deref(), is_coloured, area, cells);
    let columns = Columns::of(area.width);
    let rows: Vec<WatchRow> = std::iter::once(state.picture().rss()).chain(state.areas()).collect();
    let chosen = state.chosen().and_then(|chosen| rows.iter().position(|row| row.area == Some(chosen)));
    let table = Table::new(rows.iter().map(|row| columns.row(row, is_coloured)), columns.widths())
        .header(columns.header().style(Style::new().dim()))
        .row_highlight_style(Style::new().reversed());
    StatefulWidget::render(table, area, cells, &mut TableState::default().with_selected(chosen));
}

/// Draws what the numbers below lack, and gives what is left of the space.
fn below_notice(notice: Option<&str>, is_coloured: bool, area: Rect, cells: &mut Buffer) -> Rect {
    let Some(notice) = notice else { return area };
    let wraps_at = usize::from(area.width.max(1));
    let rows =
        u16::try_from(notice.chars().count().div_ceil(wraps_at) + 1).unwrap_or(u16::MAX).min(area.height / 2);
    let text = Paragraph::new(notice).wrap(Wrap { trim: true }).style(warned(is_coloured));
    text.render(Rect { height: rows, ..area }, cells);
    Rect { y: area.y + rows, height: area.height - rows, ..area }
}

/// Which columns there is room for.
struct Columns {
    width: u16,
}

impl Columns {
    fn of(width: u16) -> Columns {
        Columns { width }
    }

    fn has_growth(&self) -> bool {
        COLUMNS_OF_GROWTH <= self.width
    }

    fn has_all(&self) -> bool {
        COLUMNS_OF_ALL <= self.width
    }

    /// How many figures a row has.
    fn figures(&self) -> u16 {
        match (self.has_growth(), self.has_all()) {
            (false, _) => 1,
            (true, false) => 3,
            (true, true) => 4,
        }
    }

    fn name(&self) -> u16 {
        if self.has_growth() { NAME } else { NAME.min(self.width.saturating_sub(BYTES + 2) * 2 / 3) }
    }

    /// What the other columns and the spaces between them leave.
    fn curve(&self) -> u16 {
        let others = self.figures();
        self.width.saturating_sub(self.name() + others * (BYTES + 1) + 1)
    }

    fn widths(&self) -> Vec<Constraint> {
        let others = self.figures();
        let others = (0..others).map(|_| BYTES);
        let all = std::iter::once(self.name()).chain(others).chain([self.curve()]);
        all.map(Constraint::Length).collect()
    }

    fn header(&self) -> Row<'static> {
        self.cells(
            "",
            ["resident", "with owners", "a minute", "since start"].map(|text| (text, Style::new())),
            "over time",
        )
    }

    fn row(&self, row: &WatchRow, is_coloured: bool) -> Row<'static> {
        let plain = Style::new();
        let growth = if row.is_growing() { warned(is_coloured) } else { plain };
        let figures = [
            (row.resident.as_str(), plain),
            (row.owners.as_str(), plain),
            (row.per_minute.as_str(), growth),
            (row.since_start.as_str(), plain),
        ];
        let name = shortened(row.name, usize::from(self.name()));
        let curve = row.over_time(usize::from(self.curve()));
        let cells = self.cells(&name, figures, &curve);
        if row.area.is_none() { cells.style(Style::new().bold()) } else { cells }
    }

    fn cells(&self, name: &str, figures: [(&str, Style); 4], curve: &str) -> Row<'static> {
        let is_shown = [true, self.has_growth(), self.has_growth(), self.has_all()];
        let figures = figures.into_iter().zip(is_shown).filter(|(_, is_shown)| *is_shown);
        let figures = figures.map(|((text, style), _)| right(text, style));
        let all = std::iter::once(Cell::from(name.to_owned())).chain(figures);
        Row::new(all.chain([Cell::from(curve.to_owned())]).collect::<Vec<_>>())
    }
}

fn draw_entries(state: &State, of: Area, is_coloured: bool, area: Rect, cells: &mut Buffer) {
    let name_width = area.width.saturating_sub(2 * (BYTES + 1));
    let style = |has_grown| if has_grown { warned(is_coloured) } else { Style::new() };
    let entries = state.entries(of);
    if entries.is_empty() {
        draw_text(&[format!("{}: nothing in the latest full snapshot", of.title())], area, cells);
        return;
    }
    let rows = entries.iter().map(|entry| {
        Row::new([
            Cell::from(shortened(&entry.name, usize::from(name_width))),
            right(&entry.resident, Style::new()),
            right(&entry.since_start, style(entry.has_grown)),
        ])
    });
    let heading =
        [Cell::from(of.title()), right("with owners", Style::new()), right("since start", Style::new())];
    let widths = [name_width, BYTES, BYTES].map(Constraint::Length);
    let table = Table::new(rows, widths).header(Row::new(heading).style(Style::new().dim()));
    Widget::render(table, area, cells);
}

fn draw_text(said: &[impl AsRef<str>], area: Rect, cells: &mut Buffer) {
    let lines: Vec<Line<'_>> = said.iter().map(|line| Line::from(line.as_ref())).collect();
    Paragraph::new(lines).wrap(Wrap { trim: true }).render(area, cells);
}

fn keys_of(state: &State, width: u16) -> String {
    if state.is_trimming() {
        return "the JVM gives freed memory back".to_owned();
    }
    let order = match state.order() {
        WatchOrder::Growth => "growth",
        WatchOrder::Size => "size",
        WatchOrder::Name => "name",
    };
    match state.page() {
        None if width < COLUMNS_OF_GROWTH => "q quit  ? keys  ↑↓ Enter  s sort".to_owned(),
        None => format!("q quit  ? keys  ↑↓ choose  Enter entries  s by {order}  p pause  t trim"),
        Some(Page::Entries(_)) => "q quit  ? keys  ↑↓ scroll  Esc back".to_owned(),
        Some(Page::AskTrim) => "y yes  n no".to_owned(),
        Some(Page::Help | Page::Trimmed(_)) => "q quit  any other key: back".to_owned(),
    }
}

fn right(text: &str, style: Style) -> Cell<'static> {
    Cell::from(Text::from(text.to_owned()).right_aligned()).style(style)
}

fn warned(is_coloured: bool) -> Style {
    if is_coloured { Style::new().fg(Color::Yellow) } else { Style::new() }
}

fn shortened(text: &str, columns: usize) -> String {
    if text.chars().count() <= columns {
        return text.to_owned();
    }
    let head: String = text.chars().take(columns.saturating_sub(1)).collect();
    format!("{head}…")
}

#[cfg(test)]
#[path = "draw_tests.rs"]
mod tests;
