//! The result as aligned tables for a terminal.

use super::answer::Answer;
use super::changes;
use super::claims;
use super::estimate::shown_unit;
use super::faults;
use super::grid::{Cell, Grid, Group};
use super::late;
use super::results::{is_better, shown_metrics};
use super::roles;
use super::scaling;
use assay_kit::ink::{message, width as line_width, wrap};
use assay_kit::number::{half_width_percent, significant};
use assay_kit::terminal::usable;
use assay_kit::text;
use assay_model::{Comparison, Metric, StoredRun, metric};
use comfy_table::{
    Attribute, Cell as Field, CellAlignment, Color, ColumnConstraint, ContentArrangement, LineStyle, Table,
    TableStyle, Width,
};

/// Columns: metric, short heading with unit, whether its ratio has a column beside it.
const COLUMNS: [(&str, &str, bool); 6] = [
    (metric::GARBAGE_KIB_PER_REQUEST, "Garbage\nKiB/req", true),
    (metric::CPU_MS_PER_REQUEST, "CPU\nms/req", true),
    (metric::CPU_WITHOUT_JIT_MS_PER_REQUEST, "without\nJIT", true),
    (metric::THROUGHPUT_PER_S, "Rate\nreq/s", false),
    (metric::RESPONSE_P99_MS, "p99\nms", false),
    (metric::RSS_BYTES, "RSS\nMiB", false),
];

/// The columns of a run: the metric that decides, and the usual ones that any variant has; of a search for a capacity, its rates.
fn columns(grid: &Grid) -> Vec<(String, String, bool)> {
    let usual = |(id, title, with_ratio): (&str, &str, bool)| (id.to_owned(), title.to_owned(), with_ratio);
    if !grid.finds_capacity() {
        let primary = grid.primary();
        let is_usual = COLUMNS.iter().any(|(id, ..)| *id == primary.id);
        let heading =
            format!("{}\n{}", wrap(&primary.title, HEADING_CHARS).join("\n"), shown_unit(primary).0);
        let first = (!is_usual).then(|| (primary.id.to_string(), heading, true));
        let has = |id: &str| grid.cells().any(|(_, cell)| cell.estimate(id).is_some());
        let has_any = grid.metrics.iter().any(|metric| has(&metric.id));
        let others = COLUMNS.into_iter().filter(|(id, ..)| grid.is_worth_a_place(id));
        let others = others.filter(|(id, ..)| !has_any || *id == primary.id || has(id));
        return first.into_iter().chain(others.map(usual)).collect();
    }
    let rates = grid.metrics.iter().filter(|m| m.is_of_capacity());
    let of_rate = |metric: &Metric| {
        let title = metric.title.replacen(' ', "\n", 1);
        (metric.id.to_string(), title, metric.id == grid.primary().id)
    };
    rates.map(of_rate).chain(COLUMNS.into_iter().rev().take(1).map(usual)).collect()
}

/// Width of a heading that is a metric's title.
const HEADING_CHARS: usize = 16;

/// A rule under the heading and no other lines.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::new('─', '─', '─', '─'));

/// Width up to which names stand on one line.
const NAME_CHARS_MAX: usize = 28;

/// Under the tables.
const KEY: &str = "± half of the 95 % interval, in % of the value; ratios to the baseline, paired by block: ▲ higher, ▼ lower, ≈ no \
                   difference shown, ? too few blocks, or one server of each variant";

/// A metric that variants lack, and why.
struct Absent {
    metric: String,
    why: String,
    variants: Vec<String>,
}

/// The results as aligned tables for a terminal `width` columns wide. The caller decides on colour (`NO_COLOR`,
/// a pipe).
pub fn render(run: &StoredRun, width: u16, color: bool) -> String {
    let grid = &Grid::of(run);
    let plan = &grid.run.plan;
    let say = |text: &str| message(text, usable(width)) + "\n";
    let mut out = say(&format!("{}: {}", text::clean(&plan.study), text::clean(&plan.question)));
    let answer = Answer::of(grid);
    if let Some(why) = &answer.nothing {
        out += &format!("\n{}", say(&format!("Answer: {why}")));
    }
    if let Some(item) = answer.items.first() {
        out += &format!("\n{}\n", wrap(&item.headline, usable(width)).join("\n"));
    }
    let mut notes = Vec::new();
    for group in &grid.groups {
        if !group.label.is_empty() {
            out += &format!("\n{}\n", group.label);
        }
        out += &group_table(grid, group, width, color, &mut notes);
        out.push('\n');
        if let Some(lines) = roles::lines(grid, group) {
            out += &process_table(&lines, width, color);
            out.push('\n');
        }
    }
    out.push('\n');
    out += &say(KEY);
    for sentence in faults::sentences(grid) {
        out += &say(&format!("fault: {sentence}"));
    }
    if let Some(audits) = faults::audits(grid) {
        out += &say(&format!("after faults: {audits}"));
    }
    for sentence in scaling::sentences(grid) {
        out += &say(&format!("growth: {sentence}"));
    }
    for Absent { metric, why, variants } in notes {
        out += &say(&format!("not available: {metric} of {}: {why}", variants.join(", ")));
    }
    for skipped in &plan.skipped {
        out += &say(&format!("skipped: {}: {}", text::clean(&skipped.name), text::clean(&skipped.reason)));
    }
    for [variant, check, windows, evidence] in late::marks(grid) {
        out += &say(&format!("counted, but: {variant}: {check} failed in {windows}: {evidence}"));
    }
    for sentence in changes::sentences(grid) {
        out += &say(&format!("changed: {sentence}"));
    }
    let claims = claims::tally(grid).into_iter().chain(claims::objections(grid));
    for note in claims.chain(answer.cautions) {
        out += &say(&format!("note: {note}"));
    }
    out
}

fn group_table(grid: &Grid, group: &Group, width: u16, color: bool, notes: &mut Vec<Absent>) -> String {
    let mut table = blank_table(width, color);
    if grid.is_benchmark() {
        fill_by_benchmark(&mut table, grid, group, notes);
    } else {
        fill_by_variant(&mut table, grid, group, Ratios::Beside, notes);
        if is_wider(&table, width) {
            table = blank_table(width, color);
            fill_by_variant(&mut table, grid, group, Ratios::Below, &mut Vec::new());
        }
    }
    let longest = group.cells.iter().map(|c| c.label.chars().count()).max().unwrap_or(0);
    text_of(table, width, longest)
}

/// The processes of a group's variants side by side.
fn process_table(of: &roles::Lines, width: u16, color: bool) -> String {
    let mut table = blank_table(width, color);
    let headings = of.headings.iter().map(right);
    table.set_header(["Variant", "Process"].into_iter().map(Field::new).chain(headings).collect::<Vec<_>>());
    for line in &of.lines {
        let (names, figures) = line.split_at(2);
        table.add_row(names.iter().map(Field::new).chain(figures.iter().map(right)).collect::<Vec<_>>());
    }
    let longest = of.lines.iter().map(|line| line[0].chars().count()).max().unwrap_or(0);
    text_of(table, width, longest)
}

/// Where ratios stand: in a column of their own, or below the value where there is no room.
#[derive(Clone, Copy, PartialEq)]
enum Ratios {
    Beside,
    Below,
}

fn fill_by_variant(table: &mut Table, grid: &Grid, group: &Group, ratios: Ratios, notes: &mut Vec<Absent>) {
    let columns = columns(grid);
    let mut heading = vec![Field::new("Variant")];
    for (_, title, with_ratio) in &columns {
        heading.push(right(title));
        heading.extend((*with_ratio && ratios == Ratios::Beside).then(|| right("ratio")));
    }
    table.set_header(heading);
    for cell in &group.cells {
        table.add_row(row(grid, cell, &columns, ratios, notes));
    }
}

fn is_wider(table: &Table, width: u16) -> bool {
    table.lines().any(|line| line_width(&line) > usize::from(width))
}

fn blank_table(width: u16, color: bool) -> Table {
    let mut table = Table::new();
    table.load_style(STYLE).set_width(width).set_content_arrangement(ContentArrangement::Disabled);
    if color {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    table
}

/// Fields are wrapped only where the table is wider than the terminal otherwise; names last.
fn text_of(mut table: Table, width: u16, longest_name: usize) -> String {
    if is_wider(&table, width) {
        table.set_content_arrangement(ContentArrangement::Dynamic);
        if let Some(column) = table.column_mut(0) {
            let names = Width::Fixed(longest_name.min(NAME_CHARS_MAX) as u16 + 2);
            column.set_constraint(ColumnConstraint::LowerBoundary(names));
        }
    }
    let text = table.to_string();
    text.trim_end().lines().map(|l| format!("{}\n", l.trim_end())).collect()
}

/// Benchmarks are many and variants few: a row for each benchmark's metric, the baseline's value and the others' ratios.
fn fill_by_benchmark(table: &mut Table, grid: &Grid, group: &Group, notes: &mut Vec<Absent>) {
    let mut heading = vec![Field::new("Benchmark")];
    heading.extend(group.cells.iter().map(|cell| right(cell.label.replace(' ', "\n"))));
    table.set_header(heading);
    let shown = shown_metrics(grid);
    for metric in &shown {
        let benchmark = benchmark_of(metric);
        // The name is enough where one figure has it.
        let is_only = shown.iter().filter(|other| benchmark_of(other) == benchmark).count() == 1;
        let name = if is_only { benchmark } else { &metric.title };
        let name = format!("{}, {}", text::clean(name), shown_unit(metric).0);
        let mut row = vec![Field::new(name)];
        row.extend(group.cells.iter().map(|cell| match grid.comparison(cell.name, &metric.id) {
            Some(comparison) => ratio_field(cell, Some(comparison), metric, ""),
            None => value_field(grid, cell, metric, notes),
        }));
        table.add_row(row);
    }
}

fn benchmark_of(metric: &Metric) -> &str {
    metric.id.split_once('/').map_or(&*metric.id, |(_, name)| name)
}

fn row(
    grid: &Grid,
    cell: &Cell,
    columns: &[(String, String, bool)],
    ratios: Ratios,
    notes: &mut Vec<Absent>,
) -> Vec<Field> {
    let mut row = vec![Field::new(&cell.label)];
    for (id, _, with_ratio) in columns {
        let Some(metric) = grid.metrics.iter().find(|m| m.id == *id) else { continue };
        let value = value_field(grid, cell, metric, notes);
        let ratio = |above: &str| ratio_field(cell, grid.comparison(cell.name, id), metric, above);
        match ratios {
            _ if !with_ratio => row.push(value),
            Ratios::Beside => row.extend([value, ratio("")]),
            Ratios::Below => row.push(ratio(&format!("{}\n", value.content()))),
        }
    }
    row
}

fn value_field(grid: &Grid, cell: &Cell, metric: &Metric, notes: &mut Vec<Absent>) -> Field {
    if cell.skipped.is_some() {
        return right("skipped");
    }
    let Some(estimate) = cell.estimate(&metric.id) else {
        let (why, name) = (grid.why_absent(cell, metric), text::clean(cell.name));
        match notes.iter_mut().find(|n| n.metric == metric.title && n.why == why) {
            Some(note) => note.variants.push(name),
            None => notes.push(Absent { metric: metric.title.to_string(), why, variants: vec![name] }),
        }
        return right("-");
    };
    let divisor = shown_unit(metric).1;
    let half =
        half_width_percent(estimate.estimate, estimate.ends()).map(|h| format!(" ±{h}%")).unwrap_or_default();
    right(format!("{}{half}", significant(estimate.estimate / divisor)))
}

/// What stands above it has its colour.
fn ratio_field(cell: &Cell, comparison: Option<&Comparison>, metric: &Metric, above: &str) -> Field {
    let Some(comparison) = comparison else {
        let baseline = cell.variant.is_some_and(|v| v.baseline.is_none());
        return right(format!("{above}{}", if baseline { "baseline" } else { "" }));
    };
    let mark = comparison.verdict.sign();
    let field = right(format!("{above}{}× {mark}", significant(comparison.ratio.estimate)));
    match is_better(comparison, metric) {
        Some(true) => field.fg(Color::Green),
        Some(false) => field.fg(Color::Red),
        None => field.add_attribute(Attribute::Dim),
    }
}

fn right(content: impl ToString) -> Field {
    Field::new(content).set_alignment(CellAlignment::Right)
}
