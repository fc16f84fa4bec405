//! The page: tables of cells, written and read again.

use super::cell::Cell;
use super::feature::Feature;
use super::note;
use super::subject::{Row, Subject};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Tables of a page, by heading: title of each row, with its cells by the titles of their columns.
pub type Tables = BTreeMap<String, Vec<(String, BTreeMap<String, String>)>>;

/// Heading of the table of all.
pub const GLANCE: &str = "At a glance";
const BUILDS: &str = "Builds";
/// What a snapshot costs: figures without a bound.
pub const COST: &str = "Memory: what a snapshot costs";
/// Headings of tables that have no cells of releases.
pub const OTHER: &str = "Not supported";

/// Cells of a feature by row; a row that is missing was not tested.
pub type Cells = BTreeMap<(&'static str, Row), Vec<Cell>>;

/// The page.
pub fn written(
    when: &str,
    features: &[Feature],
    subjects: &[Subject],
    cells: &Cells,
    costs: &BTreeMap<Row, [String; 2]>,
    others: &[[String; 3]],
) -> String {
    let of = |feature: &Feature, row: Row| {
        let untested = || vec![Cell::NotTested; feature.columns.len()];
        cells.get(&(feature.title, row)).cloned().unwrap_or_else(untested)
    };
    let mut page = String::from(HEAD);
    let without: Vec<String> = Row::without().iter().map(u32::to_string).collect();
    let without = without.join(", ");
    let _ =
        writeln!(page, "Of JDK {without} Assay knows what changed with them; no build of them was tried.\n");
    let _ = writeln!(page, "Made {when}, by\n");
    page.push_str("    UPDATE_EXPECT=1 cargo test -p assay --test all support:: -- --ignored\n");

    heading(
        &mut page,
        GLANCE,
        "How many collectors, or layouts, are right, of those that the release has here.",
    );
    let titles: Vec<&str> = features.iter().map(|feature| feature.short).collect();
    let rows = Row::all().into_iter().map(|row| {
        let sums = features.iter().map(|feature| Cell::sum_of(&of(feature, row)).to_string());
        (row.name(), sums.collect())
    });
    table(&mut page, "release", &titles, rows);

    heading(&mut page, BUILDS, "The builds that were tested; all of them for Linux on x86.");
    let rows = Row::all().into_iter().map(|row| {
        let build = subjects.iter().find(|subject| subject.row == row).map(|subject| subject.version.clone());
        (row.name(), vec![build.unwrap_or_else(|| "none was at hand: not tested".to_owned())])
    });
    table(&mut page, "release", &["build"], rows);

    for feature in features {
        heading(&mut page, feature.title, feature.about);
        let rows = Row::all()
            .into_iter()
            .map(|row| (row.name(), of(feature, row).iter().map(Cell::to_string).collect::<Vec<_>>()));
        table(&mut page, "release", &feature.columns, rows);
        for (row, column) in
            Row::all().into_iter().flat_map(|row| feature.columns.iter().map(move |c| (row, *c)))
        {
            let at = feature.columns.iter().position(|title| *title == column).unwrap_or(0);
            let is_wrong = matches!(of(feature, row).get(at), Some(Cell::Wrong(_)));
            if let Some(why) = note::of(feature.title, &row.name(), column).filter(|_| is_wrong) {
                let _ = write!(page, "\n- {}, {column}: {why}\n", row.name());
            }
        }
    }

    heading(&mut page, COST, SNAPSHOTS);
    let rows = Row::all().into_iter().map(|row| {
        let untested = || [Cell::NotTested.to_string(), Cell::NotTested.to_string()];
        (row.name(), costs.get(&row).cloned().unwrap_or_else(untested).to_vec())
    });
    table(&mut page, "release", &["CPU time", "times that of 17"], rows);

    heading(&mut page, OTHER, NOT_SUPPORTED);
    let rows = others.iter().map(|[what, remains, cell]| (what.clone(), vec![remains.clone(), cell.clone()]));
    table(&mut page, "what", &["what Assay still reports", "tested"], rows);
    page
}

fn heading(page: &mut String, title: &str, about: &str) {
    let _ = write!(page, "\n## {title}\n\n{about}\n\n");
}

fn table(
    page: &mut String,
    first: &str,
    columns: &[&str],
    rows: impl Iterator<Item = (String, Vec<String>)>,
) {
    let _ = writeln!(page, "| {first} | {} |", columns.join(" | "));
    let _ = writeln!(page, "|{}", " --- |".repeat(columns.len() + 1));
    for (title, cells) in rows {
        let _ = writeln!(page, "| {title} | {} |", cells.join(" | "));
    }
}

/// The tables of a page as it stands.
///
/// # Errors
/// A row that has not as many cells as its table has columns.
pub fn parsed(page: &str) -> Result<Tables, String> {
    let mut tables = Tables::new();
    let mut heading = String::new();
    let mut columns: Vec<String> = Vec::new();
    for line in page.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            title.clone_into(&mut heading);
            columns.clear();
        }
        let Some(row) = line.strip_prefix("| ").and_then(|row| row.strip_suffix(" |")) else { continue };
        let cells: Vec<String> = row.split(" | ").map(|cell| cell.trim().to_owned()).collect();
        if columns.is_empty() {
            columns = cells;
            continue;
        }
        if cells.len() != columns.len() {
            return Err(format!(
                "{heading}: {} columns, and a row has {}: {line}",
                columns.len(),
                cells.len()
            ));
        }
        let mut row: BTreeMap<String, String> = columns.iter().cloned().zip(cells).collect();
        let title = columns.first().and_then(|first| row.remove(first)).unwrap_or_default();
        tables.entry(heading.clone()).or_default().push((title, row));
    }
    Ok(tables)
}

const HEAD: &str = "# Supported JVMs

What Assay knows of each release of the JDK, held against the JVM itself or the kernel. Every figure is of a test run; none is taken
over from another release.

- ✓ it agrees, and keeps its bound
- 🔴 it does not: the figure is what was found
- – the JVM does not have that
- not tested: no build of that release was at hand. Assay then uses what it knows of the nearest lower release and checks what it finds

";

const SNAPSHOTS: &str = "CPU time of a snapshot by `assay memory PID` of a JVM with G1 and a heap of 256 MB, of which 32 MB are arrays: the median of 15
snapshots of each, all JVMs in turn. No bound is tested; the figures are of a machine that also did other things, and of a program that was
built for tests.";

const NOT_SUPPORTED: &str =
    "Some programs that are called JVMs, and a C library, of which Assay knows little.";
