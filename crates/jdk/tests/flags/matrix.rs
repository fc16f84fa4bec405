//! Options by releases: what is said of each cell against what the JVM does.

use super::jvm::releases;
use assay_jdk::options::{JvmHere, judge_by_table, options_in_words};
use assay_jdk::run_java;
use assay_testkit::{find_java, skip};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const MATRIX: &str = include_str!("matrix.txt");

fn rows() -> impl Iterator<Item = Vec<String>> {
    let lines = MATRIX.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split(' ').map(str::to_owned).collect())
}

/// What the JVM does: nothing is taken out of the options, none of which acts on anything else.
fn starts(java: &Path, words: &[String]) -> bool {
    let output = run_java(java, words, Duration::from_secs(60), &AtomicBool::new(false)).expect("java runs");
    output.exit_code == Some(0)
}

/// Cells in which something else was said than the JVM did, and cells of which nothing was said.
#[derive(Debug, Default)]
struct Tally {
    cells: usize,
    wrong: Vec<String>,
    not_known: Vec<String>,
}

impl Tally {
    fn add(&mut self, cell: &str, said: Option<bool>, does: bool) {
        self.cells += 1;
        match said {
            None => self.not_known.push(cell.to_owned()),
            Some(said) if said != does => {
                self.wrong.push(format!("{cell}: the JVM {}", if does { "starts" } else { "fails" }));
            }
            Some(_) => {}
        }
    }

    fn tell(&self, who: &str) {
        let of = self.cells;
        eprintln!("{who}: of {of} cells {} wrong, {} not known", self.wrong.len(), self.not_known.len());
        eprintln!("not known: {:#?}\nwrong: {:#?}", self.not_known, self.wrong);
    }
}

#[test]
#[ignore = "long: starts each JVM that is here 600 times"]
fn each_cell_is_what_the_jvm_does_and_the_tables_alone_are_wrong_in_few() {
    let javas: Vec<(u32, PathBuf)> = releases().filter_map(|of| Some((of, find_java(of, 64)?))).collect();
    if javas.is_empty() {
        skip!("no JDK of the table");
    }
    let stop = AtomicBool::new(false);
    let (mut table, mut here) = (Tally::default(), Tally::default());
    for (release, java) in javas {
        let jvm = JvmHere::open(&java, release, &stop).expect("it lists its flags");
        for words in rows() {
            let options = options_in_words(&words).expect("options");
            let (cell, does) = (format!("JDK {release} {}", words.join(" ")), starts(&java, &words));
            table.add(&cell, judge_by_table(&options, release).starts, does);
            here.add(&cell, jvm.judge(&options, &stop).expect("nobody stops it").starts, does);
        }
    }
    table.tell("the tables alone");
    here.tell("with the JVM");
    // The tables do not know every demand of every release: they were wrong in 29 of 2,248 cells.
    assert!(here.wrong.is_empty() && table.wrong.len() * 50 < table.cells);
}
