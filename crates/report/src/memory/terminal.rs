//! A look as a tree for the terminal.

use super::facts::{self, Row};
use super::tree::{self, AreaNode, Node, is_unknown};
use assay_kit::ink::{Ink, bar, fit, paragraph};
use assay_kit::number::{bytes, count, percent};
use assay_kit::terminal::{more, problems, usable};
use assay_kit::text::{clean, shorten};
use assay_kit::{LeavesShown, TerminalView};
use assay_model::{Area, MemoryFinding, MemoryReport, PieceKind, Problem};

/// Pieces of the unknown that are listed.
const UNKNOWN_SHOWN: usize = 5;

/// Widths of the columns of a tree.
struct Columns {
    name: usize,
    /// Bars stand over tiers and notes: areas have a bar, leaves have those.
    bar: usize,
    note: usize,
    all: usize,
}

const BYTES: usize = 13;
const SHARE: usize = 8;
const TIER: usize = 14;

impl Columns {
    fn of(width: u16) -> Self {
        let all = usable(width);
        let rest = all - BYTES - SHARE;
        let name = (rest * 45 / 100).clamp(24, 46);
        let note = rest.saturating_sub(name + TIER + 4);
        let bar = (rest - name - 2).min(32);
        Columns { name, bar, note: if note < 16 { 0 } else { note }, all }
    }
}

/// The tree of one look: areas, leaves, the line that says that they add up, and what follows from them. Its lines are
/// at most as wide as the terminal, from 72 columns on.
pub fn render(report: &MemoryReport, view: TerminalView) -> String {
    let (ink, columns) = (Ink(view.color), Columns::of(view.width));
    let areas = tree::areas(report);
    let mut out = format!("{}\n", ink.bold(&shorten(&clean(&report.program), 40)));
    paragraph(&mut out, 0, columns.all, &facts::subject(report), str::to_owned);
    let headline = facts::headline(report, tree::area_bytes(&areas, Area::JavaHeap));
    paragraph(&mut out, 0, columns.all, &headline, str::to_owned);
    if let Some(left_out) = &report.owners_left_out {
        paragraph(&mut out, 0, columns.all, &facts::owners_left_out(left_out), |l| ink.warn(l));
    }
    out.push('\n');
    let tree = Tree { report, ink, columns: &columns, leaves: view.leaves };
    for area in areas.iter().filter(|a| !is_unknown(a.area)) {
        tree.area(&mut out, area);
    }
    tree.unknown(&mut out, &areas);
    sums(&mut out, report, ink, columns.all);
    findings(
        &mut out,
        "What could be given back or avoided",
        "gives back",
        &report.findings,
        ink,
        columns.all,
    );
    beside(&mut out, report, ink, columns.all);
    problems(&mut out, &Problem::listed(&report.problems), ink, columns.all);
    out
}

struct Tree<'a> {
    report: &'a MemoryReport,
    ink: Ink,
    columns: &'a Columns,
    leaves: LeavesShown,
}

impl Tree<'_> {
    fn area(&self, out: &mut String, area: &AreaNode) {
        let node = &area.node;
        let filled = bar(node.bytes as f64 / self.report.rss_bytes.max(1) as f64, self.columns.bar);
        let name = self.ink.bold(&fit(&node.name, self.columns.name));
        let line = format!("{name}{}{}", self.figures(node), filled);
        *out += line.trim_end();
        out.push('\n');
        paragraph(out, 2, self.columns.all, area.area.explanation(), |l| self.ink.dim(l));
        self.children(out, node, 1);
    }

    fn children(&self, out: &mut String, node: &Node, level: usize) {
        let leaves = match self.leaves {
            LeavesShown::All => usize::MAX,
            LeavesShown::Biggest(leaves) => leaves,
        };
        let small = node.children.iter().filter(|c| leaves <= c.rank).count();
        // A single small one takes no more room than the line that would fold it.
        let shown = |child: &&Node| child.rank < leaves || (small == 1 && 1 < node.children.len());
        for child in node.children.iter().filter(shown) {
            self.line(out, child, level);
            self.children(out, child, level + 1);
        }
        let folded: Vec<&Node> = node.children.iter().filter(|c| !shown(c)).collect();
        if !folded.is_empty() && folded.len() < node.children.len() {
            let sum = folded.iter().fold(0u64, |sum, c| sum.saturating_add(c.bytes));
            let name = format!("{}{} more", "  ".repeat(level), folded.len());
            let line = format!(
                "{}{:>BYTES$}{:>SHARE$}",
                fit(&name, self.columns.name),
                bytes(sum),
                percent(sum, self.report.rss_bytes)
            );
            *out += &format!("{}\n", self.ink.dim(&line));
        }
    }

    fn line(&self, out: &mut String, node: &Node, level: usize) {
        let name = fit(&format!("{}{}", "  ".repeat(level), node.name), self.columns.name);
        let tier = if node.is_leaf() { node.tier.title() } else { "" };
        let mut note: Vec<String> = Vec::new();
        note.extend(node.count.filter(|n| *n > 1).map(|n| format!("{}×", count(n))));
        note.extend(node.explanation.clone());
        let note = note.join(" ");
        let room = if self.leaves == LeavesShown::All { usize::MAX } else { self.columns.note };
        let note = if note.chars().count() <= room { note } else { fit(&note, room) };
        let quiet = if self.columns.note > 0 { format!("{tier:<TIER$}  {note}") } else { tier.to_owned() };
        let line = format!("{name}{}{}", self.figures(node), self.ink.dim(quiet.trim_end()));
        *out += line.trim_end();
        out.push('\n');
    }

    fn figures(&self, node: &Node) -> String {
        format!("{:>BYTES$}{:>SHARE$}  ", bytes(node.bytes), percent(node.bytes, self.report.rss_bytes))
    }

    /// Both kinds, also where there is nothing of a kind: that is the news.
    fn unknown(&self, out: &mut String, areas: &[AreaNode]) {
        let total = self.report.unknown_bytes;
        let share = percent(total, self.report.rss_bytes);
        let name = self.ink.bold(&fit("unknown", self.columns.name));
        *out += &format!("{name}{:>BYTES$}{share:>SHARE$}\n", bytes(total));
        for area in [Area::MallocHeap, Area::NativeAnonymous] {
            let sum = tree::area_bytes(areas, area);
            let name = fit(&format!("  {}", area.title()), self.columns.name);
            let room = self.columns.all - self.columns.name - BYTES - SHARE - 2;
            let explanation = facts::unknown_explanation(area, self.report);
            let fits = explanation.chars().count() <= room;
            let quiet = if fits { self.ink.dim(explanation) } else { String::new() };
            let line = format!(
                "{name}{:>BYTES$}{:>SHARE$}  {quiet}",
                bytes(sum),
                percent(sum, self.report.rss_bytes)
            );
            *out += line.trim_end();
            out.push('\n');
            self.pieces(out, area);
        }
        if !self.report.has_owners() {
            let told =
                "a quick look: pointers were not looked for, which name nearly all of it with --depth owners";
            paragraph(out, 2, self.columns.all, told, |l| self.ink.dim(l));
        }
    }

    /// What the unknown of one kind looks like, as far as it is among the biggest pieces of both.
    fn pieces(&self, out: &mut String, area: Area) {
        let is_of_malloc = area == Area::MallocHeap;
        let shown = self.report.unknown.iter().take(UNKNOWN_SHOWN);
        for piece in shown.filter(|piece| (piece.kind == PieceKind::Block) == is_of_malloc) {
            let number = piece.count.map_or_else(String::new, |n| format!("{}× ", count(n)));
            let what = format!("{} {number}{}: {}", piece.kind, clean(&piece.what), clean(&piece.contents));
            let line =
                format!("{:>width$}  {what}", bytes(piece.resident_bytes), width = self.columns.name + BYTES);
            *out += &format!("{}\n", self.ink.dim(fit(&line, self.columns.all).trim_end()));
        }
    }
}

fn sums(out: &mut String, report: &MemoryReport, ink: Ink, width: usize) {
    out.push('\n');
    paragraph(out, 0, width, &facts::closure(report, tree::sum_of_leaves(report)), |l| ink.bold(l));
    let rss = report.rss_bytes;
    let tiers = report.tiers.iter().filter(|t| t.resident_bytes > 0);
    let tiers: Vec<String> =
        tiers.map(|t| format!("{} {}", t.tier.title(), percent(t.resident_bytes, rss))).collect();
    if !tiers.is_empty() {
        let inferred = percent(report.inferred_bytes, rss);
        let text = format!("Established by: {}. Inferred (content, pointers): {inferred}.", tiers.join(", "));
        paragraph(out, 0, width, &text, |l| ink.dim(l));
    }
}

/// Findings with their gain, or nothing. `gives` is what a setting does to the bytes: `gives back`.
pub fn findings(
    out: &mut String,
    title: &str,
    gives: &str,
    findings: &[MemoryFinding],
    ink: Ink,
    width: usize,
) {
    if findings.is_empty() {
        return;
    }
    *out += &format!("\n{}\n", ink.bold(title));
    for finding in findings {
        let gain = finding.gain_bytes.map_or("not known".to_owned(), bytes);
        *out += &format!("  {}  ", ink.good(&format!("{gain:>12}")));
        let mut text = String::new();
        paragraph(&mut text, 16, width, &clean(&finding.claim), str::to_owned);
        *out += text.trim_start();
        paragraph(out, 16, width, &clean(&finding.evidence), |l| ink.dim(l));
        let gives = facts::gain(finding, gives).map_or_else(String::new, |gain| format!("{gain}: "));
        paragraph(out, 16, width, &format!("→ {gives}{}", clean(&finding.setting)), str::to_owned);
    }
}

fn beside(out: &mut String, report: &MemoryReport, ink: Ink, width: usize) {
    rows(out, "The JVM's own figures", &facts::jvm(report), ink, width);
    rows(out, "Beside the RSS", &facts::beside(report), ink, width);
    if let Some(group) = &report.cgroup {
        let title = format!("Control group {}", clean(&group.path));
        rows(out, &title, &facts::cgroup(group), ink, width);
    }
    if let Some(allocator) = &report.allocator {
        *out += &format!("\n{}\n", ink.bold("Allocator"));
        paragraph(out, 2, width, &facts::allocator_sentence(allocator), str::to_owned);
        *out += &arenas(allocator, ink);
    }
}

fn arenas(allocator: &assay_model::AllocatorFacts, ink: Ink) -> String {
    if allocator.arenas.is_empty() {
        return String::new();
    }
    let heading = format!(
        "{:<10}{:>13}{:>13}{:>16}{:>16}",
        "arena", "from kernel", "in use", "freed, resident", "a trim returns"
    );
    let mut out = format!("  {}\n", ink.dim(&heading));
    for arena in allocator.arenas.iter().take(facts::ARENAS_SHOWN) {
        let optional = |value: Option<u64>| value.map_or("-".to_owned(), bytes);
        out += &format!(
            "  {:<10}{:>13}{:>13}{:>16}{:>16}\n",
            facts::arena_name(arena),
            bytes(arena.system_bytes),
            bytes(arena.used_bytes),
            optional(arena.freed_resident_bytes),
            optional(arena.trim_gain_bytes)
        );
    }
    let counts = (allocator.arenas.len(), facts::ARENAS_SHOWN);
    more(&mut out, counts, "  ", "more arenas (--json has them)", ink);
    out
}

fn rows(out: &mut String, title: &str, rows: &[Row], ink: Ink, width: usize) {
    if rows.is_empty() {
        return;
    }
    *out += &format!("\n{}\n", ink.bold(&shorten(title, width)));
    for row in rows {
        let mut text = String::new();
        paragraph(&mut text, 16, width, &row.what, str::to_owned);
        *out += &format!("  {:>12}  {}", row.value, text.trim_start());
    }
}
