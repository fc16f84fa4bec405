//! A snapshot as a tree for the terminal.

use super::facts;
use super::tree::{self, AreaNode, Node, is_unknown};
use assay_findings::{to_terminal, told};
use assay_kit::ink::{Ink, bar, fit};
use assay_kit::number::{bytes, count, percent};
use assay_kit::text::{clean, shorten};
use assay_kit::{EntriesShown, Terminal, TerminalView};
use assay_model::{Area, Finding, MemoryReport, PieceKind, Problem, RuleId};

/// Pieces of the unknown that are listed.
const UNKNOWN_SHOWN: usize = 5;

/// Widths of the columns of a tree.
struct Columns {
    name: usize,
    /// Bars stand over sources and notes: areas have a bar, entries have those.
    bar: usize,
    note: usize,
}

const BYTES: usize = 13;
const SHARE: usize = 8;
const SOURCE: usize = 14;

impl Columns {
    fn of(width: usize) -> Self {
        let rest = width - BYTES - SHARE;
        let name = (rest * 45 / 100).clamp(24, 46);
        let note = rest.saturating_sub(name + SOURCE + 4);
        let bar = (rest - name - 2).min(32);
        Columns { name, bar, note: if note < 16 { 0 } else { note } }
    }
}

/// The tree of one snapshot: areas, entries, the line that says that they add up, and what follows from them. Its lines are
/// at most as wide as the terminal, from 72 columns on.
pub fn render(report: &MemoryReport, view: TerminalView) -> String {
    let mut out = Terminal::new(view);
    let areas = tree::areas(report);
    out.line(&out.ink.bold(&shorten(&clean(&report.program), 40)));
    out.paragraph(0, &facts::subject(report), Ink::plain);
    let headline = facts::headline(report, tree::area_bytes(&areas, Area::JavaHeap));
    out.paragraph(0, &headline, Ink::plain);
    if let Some(left_out) = &report.owners_left_out {
        out.paragraph(0, &facts::owners_left_out(left_out), Ink::warn);
    }
    out.blank();
    let tree = Tree { report, columns: Columns::of(out.width), entries: view.entries };
    for area in areas.iter().filter(|a| !is_unknown(a.area)) {
        tree.area(&mut out, area);
    }
    tree.unknown(&mut out, &areas);
    sums(&mut out, report);
    findings(&mut out, "Potential savings", "gives back", &report.findings);
    beside(&mut out, report);
    out.problems(&Problem::listed(&report.problems));
    out.finish()
}

struct Tree<'a> {
    report: &'a MemoryReport,
    columns: Columns,
    entries: EntriesShown,
}

impl Tree<'_> {
    fn area(&self, out: &mut Terminal, area: &AreaNode) {
        let node = &area.node;
        let filled = bar(node.bytes as f64 / self.report.rss_bytes.max(1) as f64, self.columns.bar);
        let name = out.ink.bold(&fit(&node.name, self.columns.name));
        out.line(&format!("{name}{}{filled}", self.figures(node)));
        out.paragraph(2, area.area.explanation(), Ink::dim);
        self.children(out, node, 1);
    }

    fn children(&self, out: &mut Terminal, node: &Node, level: usize) {
        let entries = self.entries.most();
        let small = node.children.iter().filter(|c| entries <= c.rank).count();
        // A single small one takes no more room than the line that would fold it.
        let shown = |child: &&Node| child.rank < entries || (small == 1 && 1 < node.children.len());
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
            out.line(&out.ink.dim(&line));
        }
    }

    fn line(&self, out: &mut Terminal, node: &Node, level: usize) {
        let name = fit(&format!("{}{}", "  ".repeat(level), node.name), self.columns.name);
        let source = if node.is_entry() { node.source.title() } else { "" };
        let mut note: Vec<String> = Vec::new();
        note.extend(node.count.filter(|n| *n > 1).map(|n| format!("{}×", count(n))));
        note.extend(node.explanation.clone());
        let note = note.join(" ");
        let room = if self.entries == EntriesShown::All { usize::MAX } else { self.columns.note };
        let note = if note.chars().count() <= room { note } else { fit(&note, room) };
        let quiet =
            if self.columns.note > 0 { format!("{source:<SOURCE$}  {note}") } else { source.to_owned() };
        out.line(&format!("{name}{}{}", self.figures(node), out.ink.dim(quiet.trim_end())));
    }

    fn figures(&self, node: &Node) -> String {
        format!("{:>BYTES$}{:>SHARE$}  ", bytes(node.bytes), percent(node.bytes, self.report.rss_bytes))
    }

    /// Both kinds, also where there is nothing of a kind: that is the news.
    fn unknown(&self, out: &mut Terminal, areas: &[AreaNode]) {
        let total = self.report.unknown_bytes;
        let share = percent(total, self.report.rss_bytes);
        let name = out.ink.bold(&fit("unknown", self.columns.name));
        out.line(&format!("{name}{:>BYTES$}{share:>SHARE$}", bytes(total)));
        for area in [Area::MallocHeap, Area::NativeAnonymous] {
            let sum = tree::area_bytes(areas, area);
            let name = fit(&format!("  {}", area.title()), self.columns.name);
            let room = out.width - self.columns.name - BYTES - SHARE - 2;
            let explanation = facts::unknown_explanation(area, self.report);
            let fits = explanation.chars().count() <= room;
            let quiet = if fits { out.ink.dim(explanation) } else { String::new() };
            let share = percent(sum, self.report.rss_bytes);
            out.line(&format!("{name}{:>BYTES$}{share:>SHARE$}  {quiet}", bytes(sum)));
            self.pieces(out, area);
        }
        if !self.report.has_owners() {
            let told = "a quick sample: --depth owners follows pointers and names nearly all of it";
            out.paragraph(2, told, Ink::dim);
        }
    }

    /// What the unknown of one kind looks like, as far as it is among the biggest pieces of both.
    fn pieces(&self, out: &mut Terminal, area: Area) {
        let is_of_malloc = area == Area::MallocHeap;
        let shown = self.report.unknown.iter().take(UNKNOWN_SHOWN);
        for piece in shown.filter(|piece| (piece.kind == PieceKind::Block) == is_of_malloc) {
            let number = piece.count.map_or_else(String::new, |n| format!("{}× ", count(n)));
            let what = format!("{} {number}{}: {}", piece.kind, clean(&piece.what), clean(&piece.contents));
            let line =
                format!("{:>width$}  {what}", bytes(piece.resident_bytes), width = self.columns.name + BYTES);
            out.line(&out.ink.dim(fit(&line, out.width).trim_end()));
        }
    }
}

fn sums(out: &mut Terminal, report: &MemoryReport) {
    out.blank();
    out.paragraph(0, &facts::closure(report, tree::sum_of_entries(report)), Ink::bold);
    let rss = report.rss_bytes;
    let sources = report.sources.iter().filter(|t| t.resident_bytes > 0);
    let sources: Vec<String> =
        sources.map(|t| format!("{} {}", t.source.title(), percent(t.resident_bytes, rss))).collect();
    if !sources.is_empty() {
        let inferred = percent(report.inferred_bytes, rss);
        let text = format!("Source: {}. Inferred (content, pointers): {inferred}.", sources.join(", "));
        out.paragraph(0, &text, Ink::dim);
    }
}

/// Findings under a heading, or nothing. `gives` is what a setting does to the bytes: `gives back`.
pub fn findings(out: &mut Terminal, title: &str, gives: &str, findings: &[Finding<RuleId>]) {
    if findings.is_empty() {
        return;
    }
    out.heading(title);
    to_terminal(out, &told(findings, gives));
}

fn beside(out: &mut Terminal, report: &MemoryReport) {
    out.rows("The JVM's own figures", &facts::jvm(report));
    out.rows("Other figures of the kernel", &facts::beside(report));
    if let Some(group) = &report.cgroup {
        let title = format!("Control group {}", clean(&group.path));
        out.rows(&title, &facts::cgroup(group));
    }
    if let Some(allocator) = &report.allocator {
        out.heading("Allocator");
        out.paragraph(2, &facts::allocator_sentence(allocator), Ink::plain);
        arenas(out, allocator);
    }
}

fn arenas(out: &mut Terminal, allocator: &assay_model::AllocatorFacts) {
    if allocator.arenas.is_empty() {
        return;
    }
    let row = |cells: [&str; 5]| {
        let [arena, system, used, freed, trim] = cells;
        format!("  {arena:<10}{system:>13}{used:>13}{freed:>16}{trim:>16}")
    };
    let heading = row(["arena", "from kernel", "in use", "freed, resident", "a trim returns"]);
    out.line(&out.ink.dim(&heading));
    for arena in allocator.arenas.iter().take(facts::ARENAS_SHOWN) {
        let optional = |value: Option<u64>| value.map_or("-".to_owned(), bytes);
        let (freed, trim) = (optional(arena.freed_resident_bytes), optional(arena.trim_gain_bytes));
        let (system, used) = (bytes(arena.system_bytes), bytes(arena.used_bytes));
        out.line(&row([&facts::arena_name(arena), &system, &used, &freed, &trim]));
    }
    out.more((allocator.arenas.len(), facts::ARENAS_SHOWN), "  ", "more arenas (--json has them)");
}
