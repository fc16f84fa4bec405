//! Tables and trees on terminals of several widths.

use super::terminal_rows::Wanted;
use super::terminal_table::write;
use crate::table::{Cell, Table};
use crate::terminal::{Extent, Terminal, TerminalView};

/// Path, rank and weight of each row.
type Node = (&'static [&'static str], usize, u64);

fn shown(nodes: &[Node], entries: usize) -> String {
    let table = Table::of("A tree", nodes)
        .words("Name", |node| Cell::Path(node.0.iter().map(|name| (*name).to_owned()).collect()))
        .figures("Size", |node| node.2.to_string())
        .tree(|node| (node.1, node.2), |weight| weight.to_string())
        .table();
    let mut out = Terminal::new(TerminalView { width: 60, color: false, extent: Extent::All });
    write(&mut out, &table, Wanted { entries, ..Wanted::of(Extent::All) });
    out.finish().lines().skip(3).map(|line| format!("{line}\n")).collect()
}

#[test]
fn what_stands_below_a_row_has_the_whole_width_and_no_column() {
    let what = "a text that would make a column of many short lines out of one that is long";
    let nodes = [("first", 7, what), ("second", 8, ""), ("third\u{1}", 9, "short")];
    let table = Table::of("A table", nodes)
        .words("Name", |node| node.0)
        .figures("Size", |node| node.1.to_string())
        .words("What it is", |node| node.2)
        .below()
        .table();
    let mut out = Terminal::new(TerminalView { width: 60, color: false, extent: Extent::All });
    write(&mut out, &table, Wanted::of(Extent::All));
    let wanted = "\
A table
Name    Size
─────────────
first      7
  a text that would make a column of many short lines out of
  one that is long
second     8
third\u{FFFD}     9
  short
";
    assert_eq!(out.finish(), wanted);
    assert!(table.markdown().contains("| Name | Size | What it is |"));
}

#[test]
fn a_long_name_in_a_tree_goes_on_further_in() {
    let nodes: &[Node] = &[
        (&["a"], 0, 100),
        (&["a", "java.lang.invoke.MethodHandleNatives and quite a lot more of its name"], 0, 80),
    ];
    let wanted = "\
a                                                    100
  java.lang.invoke.MethodHandleNatives and quite a    80
    lot more of its name
";
    assert_eq!(shown(nodes, 2), wanted);
}

#[test]
fn small_rows_of_a_branch_are_folded_unless_there_is_one_or_nothing_else() {
    let nodes: &[Node] = &[
        (&["a"], 0, 100),
        (&["a", "big"], 0, 80),
        (&["a", "b"], 2, 15),
        (&["a", "b", "x"], 2, 9),
        (&["a", "b", "y"], 3, 6),
        (&["a", "c"], 4, 5),
        (&["d"], 1, 50),
        (&["d", "big"], 1, 49),
        (&["d", "alone"], 5, 1),
        (&["e"], 6, 4),
        (&["e", "f"], 6, 3),
        (&["e", "g"], 7, 1),
    ];
    let folded = "\
a          100
  big       80
  2 more    20
d           50
  big       49
  alone      1
e            4
";
    assert_eq!(shown(nodes, 2), folded);
    let all = shown(nodes, usize::MAX);
    assert_eq!(all.lines().count(), nodes.len());
    assert!(!all.contains(" more"), "{all}");
}

fn written(table: &Table, width: u16) -> String {
    let mut out = Terminal::new(TerminalView { width, color: false, extent: Extent::All });
    write(&mut out, table, Wanted::of(Extent::All));
    let text = out.finish();
    assert!(text.lines().all(|line| line.chars().count() <= usize::from(width)), "{text}");
    text
}

#[test]
fn columns_that_do_not_fit_follow_in_parts_each_with_the_first_column() {
    let mut rows = Table::of("Options", ["-Xmx4g"]).words("Option", |name| *name);
    for release in ["JDK 8", "JDK 11", "JDK 17", "JDK 21"] {
        rows = rows.words(release, |_| "unrecognized here");
    }
    let table = rows.table();
    let headings = |width| {
        let text = written(&table, width);
        text.lines().filter(|line| line.starts_with("Option ")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(headings(120).len(), 1);
    let narrow = headings(60);
    assert!(narrow.len() == 2 && narrow[0].contains("JDK 11") && narrow[1].ends_with("JDK 21"), "{narrow:?}");
}

#[test]
fn the_name_of_a_branch_keeps_its_indent_on_each_line() {
    let name = "a name that is longer than the place that figures leave it";
    let paths = [vec!["root"], vec!["root", name]];
    let table = Table::of("Tree", &paths)
        .words("Name", |path| Cell::Path(path.iter().map(|&name| name.to_owned()).collect()))
        .figures("CPU time", |_| "1,234,567,890")
        .figures("Waits", |_| "1,234,567,890")
        .tree(|_| (0, 1), |weight| weight.to_string())
        .table();
    let text = written(&table, 60);
    let lines: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("root")).skip(1).collect();
    assert!(lines.len() > 1 && lines.iter().all(|line| line.starts_with("  ")), "{text}");
    assert!(!text.contains("Not in this width"), "{text}");
}

#[test]
fn a_caption_and_cells_of_a_list_are_wrapped() {
    let long = "one word after the other until no terminal is wide enough for them all in one line";
    let table = Table::of(long, [long; 2]).words("First", |_| "a").figures("Second", |text| *text).table();
    let text = written(&table, 60);
    assert!(text.contains("\n  - Second: one word"), "{text}");
}
