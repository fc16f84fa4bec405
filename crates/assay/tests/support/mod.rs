//! The table of supported JVMs, `docs/reference/supported-jvms.md`: each cell is what a test run found of a release, held against the
//! JVM itself or the kernel.
//!
//! `UPDATE_EXPECT=1 cargo test -p assay --test all support:: -- --ignored` makes it, of all JVMs that are here; without that variable the same
//! run fails if a cell that was right has become wrong.

mod cell;
mod cost;
mod feature;
mod gc;
mod heap;
mod memory;
mod memory_cases;
mod note;
mod others;
mod page;
mod subject;
mod time;

use assay_testkit::{checkout, find_tool, skip};
use cell::Cell;
use feature::{features, tested};
use page::{Cells, Tables, parsed, written};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use subject::{Row, Subject, some_rows};

/// JVMs that are tested beside each other: one for each processor of a small machine.
const AT_ONCE: usize = 2;

fn path() -> PathBuf {
    checkout().join("docs/reference/supported-jvms.md")
}

fn stored() -> String {
    fs::read_to_string(path()).expect("docs/reference/supported-jvms.md")
}

/// What is wrong with a page: rows that are missing, cells that are none.
fn mistakes(page: &str) -> Vec<String> {
    let tables = match parsed(page) {
        Ok(tables) => tables,
        Err(why) => return vec![why],
    };
    let mut found = Vec::new();
    for feature in features() {
        let rows = tables.get(feature.title).map_or(&[][..], Vec::as_slice);
        for row in Row::all() {
            let Some((_, cells)) = rows.iter().find(|(title, _)| *title == row.name()) else {
                found.push(format!("{}: no row {}", feature.title, row.name()));
                continue;
            };
            for column in &feature.columns {
                let text = cells.get(*column).map_or("", String::as_str);
                if Cell::parse(text).is_none() {
                    found.push(format!(
                        "{}: {}, {column}: {text:?} is not a cell",
                        feature.title,
                        row.name()
                    ));
                }
            }
        }
    }
    found.extend(all(&tables).filter_map(|(heading, row, column, cell)| {
        let Cell::Wrong(found) = cell else { return None };
        let is_told = heading == page::GLANCE || note::of(heading, row, column).is_some();
        (!is_told).then(|| format!("{heading}: {row}, {column}: {found}, and no note says why"))
    }));
    let costs = tables.get(page::COST).map_or(&[][..], Vec::as_slice);
    let is_empty = |row: &Row| {
        !costs
            .iter()
            .any(|(title, cells)| *title == row.name() && cells.values().all(|cell| !cell.is_empty()))
    };
    found.extend(
        Row::all()
            .iter()
            .filter(|row| is_empty(row))
            .map(|row| format!("{}: no row {}", page::COST, row.name())),
    );
    let others = tables.get(page::OTHER).map_or(&[][..], Vec::as_slice);
    found.extend(
        others::NAMES
            .iter()
            .filter(|name| !others.iter().any(|(what, _)| what == *name))
            .map(|name| format!("{}: no row {name}", page::OTHER)),
    );
    let empty = others.iter().filter(|(_, cells)| cells.values().any(String::is_empty));
    found.extend(empty.map(|(what, _)| format!("{}: {what} has an empty cell", page::OTHER)));
    if !page.lines().any(|line| line.starts_with("Made 20")) {
        found.push("it does not say when it was made".to_owned());
    }
    found
}

/// Cells that one page has right and the other has not.
fn lost(before: &Tables, after: &Tables) -> Vec<String> {
    let mut lost = Vec::new();
    for (heading, title, column, cell) in all(before) {
        let now = after.get(heading).and_then(|rows| rows.iter().find(|(of, _)| of == title));
        let now = now.and_then(|(_, cells)| cells.get(column)).and_then(|text| Cell::parse(text));
        let is_lost = matches!(now, Some(Cell::Wrong(_)) | None);
        if matches!(cell, Cell::Right(_)) && is_lost {
            lost.push(format!("{heading}: {title}, {column}: was {cell}, is {now:?}"));
        }
    }
    lost
}

/// Heading, title of the row, title of the column, cell.
fn all<'t>(tables: &'t Tables) -> impl Iterator<Item = (&'t str, &'t str, &'t str, Cell)> {
    tables.iter().flat_map(|(heading, rows)| {
        rows.iter().flat_map(move |(title, cells)| {
            let of = move |(column, text): (&'t String, &'t String)| {
                Some((heading.as_str(), title.as_str(), column.as_str(), Cell::parse(text)?))
            };
            cells.iter().filter_map(of)
        })
    })
}

#[test]
fn a_red_cell_without_a_note_is_a_mistake() {
    let page = stored();
    let feature = &features()[0];
    let (head, tables) = page.split_at(page.find(feature.about).expect("the first table"));
    let row = tables.lines().find(|line| line.starts_with("| 17 | ")).expect("a row of JDK 17");
    let red = row.replacen(row.split(" | ").nth(1).expect("a cell"), "🔴 1 B off", 1);
    let altered = format!("{head}{}", tables.replacen(row, &red, 1));
    assert!(
        mistakes(&altered).iter().any(|mistake| mistake.contains("no note says why")),
        "{:?}",
        mistakes(&altered)
    );
}

#[test]
fn the_page_has_a_row_for_each_release_and_no_cell_is_empty() {
    let page = stored();
    let found = mistakes(&page);
    assert!(
        found.is_empty(),
        "make it anew: UPDATE_EXPECT=1 cargo test -p assay --test all support:: -- --ignored\n{}",
        found.join("\n")
    );
    // What would be noticed, in the first table of cells.
    let (head, tables) = page.split_at(page.find(features()[0].title).expect("the first of them"));
    let row = tables.lines().find(|line| line.starts_with("| 17 | ")).expect("a row of JDK 17");
    let (title, cells) = row.split_once(" | ").expect("a cell");
    let (_, others) = cells.split_once(" | ").expect("another cell");
    for instead in
        ["".to_owned(), format!("{title} |  | {others}"), format!("{title} | surely works | {others}")]
    {
        let altered = format!("{head}{}", tables.replacen(row, &instead, 1));
        assert_eq!(mistakes(&altered).len(), 1, "{instead}");
    }
}

#[test]
fn a_cell_that_is_no_longer_right_is_noticed() {
    let page = |cell: &str| format!("## Sum\n\n| release | G1 |\n| --- | --- |\n| 8 | {cell} |\n");
    let tables = |cell| parsed(&page(cell)).expect("a table");
    let was = tables("✓ 0 B off");
    assert_eq!(lost(&was, &tables("✓ 0 B off, again")), [""; 0]);
    assert_eq!(lost(&was, &tables("not tested")), [""; 0], "no JVM of it is here");
    assert_eq!(lost(&was, &tables("🔴 4096 B off")).len(), 1);
    assert_eq!(lost(&tables("🔴 4096 B off"), &was), [""; 0]);
}

#[test]
#[ignore = "long: a few hundred JVMs, ten minutes"]
fn every_cell_is_what_a_test_run_finds() {
    let subjects = Subject::all();
    if find_tool("javac").is_none() {
        skip!("no javac");
    }
    let waiting = Mutex::new(subjects.iter());
    let cells = Mutex::new(Cells::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let next = waiting.lock().expect("no other panicked").next();
                    let Some(subject) = next else { break };
                    let found = tested(subject);
                    cells.lock().expect("no other panicked").extend(found);
                }
            });
        }
    });
    let cells = cells.into_inner().expect("no thread panicked");
    let page =
        written(&when(), &features(), &subjects, &cells, &cost::snapshots(&subjects), &others::tested());
    if some_rows().is_some() {
        println!("{page}");
        return;
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(path(), &page).expect("written");
    }
    assert_eq!(mistakes(&page), [""; 0]);
    let lost = lost(&parsed(&stored()).expect("its tables"), &parsed(&page).expect("its tables"));
    assert!(lost.is_empty(), "no longer right:\n{}", lost.join("\n"));
}

/// The day, and the kernel's release.
fn when() -> String {
    let output = Command::new("date").args(["-u", "+%F"]).output().expect("date runs");
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let kernel = kernel.split(['-', '+', '\n']).next().unwrap_or_default().to_owned();
    format!("{} on Linux {kernel}", String::from_utf8_lossy(&output.stdout).trim())
}
