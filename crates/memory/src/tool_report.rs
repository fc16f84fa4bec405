//! Reports of other tools about the memory of a process: `/proc/PID/smaps`, `pmap -X`, and native memory tracking as text.
//!
//! Such a file has no contents of memory. So the mappings' areas are those that names and layout alone show, and anonymous memory that these
//! do not tell apart (the Java heap, metaspace, most of malloc) is one area of its own.

use crate::layout::Layout;
use assay_hotspot::{NmtAmount, NmtSite, NmtTagText, is_nmt_text, parse_nmt_text};
use assay_linux::{Mapping, parse_pmap, parse_smaps};
use assay_model::{Area, MemoryTool, MemoryToolReport, Problem, ReportedEntry, ReportedMemory, schema};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Longest file that is read: 65,530 mappings, the kernel's default limit, take 45 MB in `smaps`.
const FILE_BYTES_MAX: u64 = 256 << 20;
/// Mappings without a name that have an entry of their own.
const NAMELESS_MAX: usize = 100;
const CALL_SITES_MAX: usize = 1_000;
/// Categories that are too small to be printed, each below a unit, and roundings of those that are printed.
const ROUNDED_UNITS_MAX: u64 = 40;

/// Why a file is not read as a report of another tool.
#[derive(Debug, thiserror::Error)]
pub enum ToolReportError {
    /// It could not be read.
    #[error("cannot read {path}: {source}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The kernel's answer.
        source: io::Error,
    },
    /// It is too large.
    #[error("{path} is larger than {mib} MiB", path = .path.display(), mib = FILE_BYTES_MAX >> 20)]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// It is of no such tool, or nothing of it can be read.
    #[error(
        "{path} has no report that can be read: {why}\n  read are /proc/PID/smaps, pmap -X PID, and jcmd PID VM.native_memory",
        path = .path.display()
    )]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}

/// The tool that wrote a text, by its beginning.
pub fn tool_of(head: &str) -> Option<MemoryTool> {
    let mut lines = head.lines().filter(|line| !line.trim().is_empty());
    let (first, second) = (lines.next()?, lines.next().unwrap_or_default());
    if is_nmt_text(head) {
        Some(MemoryTool::Nmt)
    } else if parse_pmap(Path::new(""), &format!("{first}\n{second}")).is_ok() {
        Some(MemoryTool::Pmap)
    } else if second.starts_with("Size:") && is_header(first) {
        Some(MemoryTool::Smaps)
    } else {
        None
    }
}

/// Whether a line begins a mapping.
fn is_header(line: &str) -> bool {
    let mapping = format!("{line}\nRss: 0 kB\n");
    parse_smaps(Path::new(""), mapping.as_bytes()).next().is_some_and(|mapping| mapping.is_ok())
}

/// Reads a file.
///
/// # Errors
/// When it cannot be read, is too large, or is of no tool that is known here.
pub fn read_tool_report(path: &Path) -> Result<MemoryToolReport, ToolReportError> {
    let io = |source| ToolReportError::Io { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(io)?;
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(io)?;
    if FILE_BYTES_MAX < bytes.len() as u64 {
        return Err(ToolReportError::TooLarge { path: path.to_owned() });
    }
    tool_report(path, &String::from_utf8_lossy(&bytes))
}

/// What a text shows; `path` is its name.
///
/// # Errors
/// When it is of no tool that is known here, or nothing of it can be read.
pub fn tool_report(path: &Path, text: &str) -> Result<MemoryToolReport, ToolReportError> {
    let foreign = |why: String| ToolReportError::Foreign { path: path.to_owned(), why };
    let other = if text.trim().is_empty() { "it is empty" } else { "it has another form" };
    let tool = tool_of(text).ok_or_else(|| foreign(other.to_owned()))?;
    let mut report = MemoryToolReport {
        schema: schema::MEMORY_TOOL_REPORT.to_owned(),
        assay_version: env!("CARGO_PKG_VERSION").to_owned(),
        file: path.display().to_string(),
        tool,
        pid: None,
        total: ReportedMemory::default(),
        entries: Vec::new(),
        call_sites: Vec::new(),
        problems: Vec::new(),
    };
    match tool {
        MemoryTool::Nmt => {
            add_nmt(&mut report, text).ok_or_else(|| foreign("it has no total".to_owned()))?;
        }
        MemoryTool::Pmap => add_pmap(&mut report, path, text).map_err(foreign)?,
        _ => add_smaps(&mut report, path, text).map_err(foreign)?,
    }
    report.entries.sort_by_key(|entry| Reverse(entry.memory.weight_bytes()));
    Ok(report)
}

fn add_smaps(report: &mut MemoryToolReport, path: &Path, text: &str) -> Result<(), String> {
    let mut mappings = Vec::new();
    for mapping in parse_smaps(path, text.as_bytes()) {
        match mapping {
            Ok(mapping) => mappings.push(mapping),
            Err(error) if mappings.is_empty() => return Err(error.to_string()),
            Err(error) => problem(report, None, format!("it is not whole: {error}")),
        }
    }
    add_mappings(report, &mappings);
    Ok(())
}

fn add_pmap(report: &mut MemoryToolReport, path: &Path, text: &str) -> Result<(), String> {
    let mut table = parse_pmap(path, text).map_err(|error| error.to_string())?;
    if let Some(error) = &table.broken {
        if table.mappings.is_empty() {
            return Err(error.to_string());
        }
        problem(report, Some(error.line), format!("it is not whole: {}: {}", error.item, error.what));
    }
    for mapping in table.mappings.iter_mut().filter(|mapping| mapping.name.starts_with("memfd:")) {
        // pmap leaves the folder out.
        mapping.name.insert(0, '/');
    }
    report.pid = Some(table.pid);
    add_mappings(report, &table.mappings);
    let told = table.rss_bytes.zip(report.total.resident_bytes);
    if let Some((told, sum)) = told.filter(|(told, sum)| told != sum) {
        problem(report, None, format!("its rows have {sum} resident bytes, its line of sums has {told}"));
    }
    Ok(())
}

fn add_nmt(report: &mut MemoryToolReport, text: &str) -> Option<()> {
    let read = parse_nmt_text(text)?;
    report.pid = read.pid;
    report.total = tracked(read.total);
    report.entries = read.tags.iter().flat_map(entries_of_tag).collect();
    let sum: u64 = read.tags.iter().fold(0, |sum, tag| sum.saturating_add(tag.amount.committed_bytes));
    let told = read.total.committed_bytes;
    if ROUNDED_UNITS_MAX.saturating_mul(read.unit_bytes) < sum.abs_diff(told) {
        let text =
            format!("it is not whole: its categories have {sum} committed bytes, its total has {told}");
        problem(report, None, text);
    }
    let site = |site: &NmtSite| ReportedEntry {
        path: vec![site.tag.clone(), site.frame.clone()],
        count: site.count,
        memory: ReportedMemory { committed_bytes: Some(site.bytes), ..ReportedMemory::default() },
    };
    report.call_sites = read.sites.iter().map(site).collect();
    report.call_sites.sort_by_key(|site| Reverse(site.memory.weight_bytes()));
    report.call_sites.truncate(CALL_SITES_MAX);
    Some(())
}

/// The parts of a category, and what they leave of it: roundings, or a part of a later release.
fn entries_of_tag(tag: &NmtTagText) -> Vec<ReportedEntry> {
    let entry = |name: &str, count, amount| ReportedEntry {
        path: vec![tag.name.clone(), name.to_owned()],
        count,
        memory: tracked(amount),
    };
    let mut entries: Vec<ReportedEntry> =
        tag.parts.iter().map(|part| entry(&part.name, part.count, part.amount)).collect();
    let rest = tag.parts.iter().fold(tag.amount, |rest, part| NmtAmount {
        reserved_bytes: rest.reserved_bytes.saturating_sub(part.amount.reserved_bytes),
        committed_bytes: rest.committed_bytes.saturating_sub(part.amount.committed_bytes),
    });
    if rest != NmtAmount::default() {
        entries.push(entry("not split", None, rest));
    }
    entries
}

fn add_mappings(report: &mut MemoryToolReport, mappings: &[Mapping]) {
    report.entries = entries(mappings);
    let memory = report.entries.iter().map(|entry| entry.memory);
    report.total = memory.reduce(ReportedMemory::and).unwrap_or_default();
}

fn problem(report: &mut MemoryToolReport, line: Option<u64>, text: String) {
    report.problems.push(Problem { line, ..Problem::new(report.file.clone(), text) });
}

fn tracked(amount: NmtAmount) -> ReportedMemory {
    ReportedMemory {
        reserved_bytes: Some(amount.reserved_bytes),
        committed_bytes: Some(amount.committed_bytes),
        ..ReportedMemory::default()
    }
}

/// An entry for each area and name. Without contents nothing shows whether aligned anonymous memory is one of malloc's arenas.
fn entries(mappings: &[Mapping]) -> Vec<ReportedEntry> {
    let no_contents = |_: u64, _: &mut [u64; 4], _: bool| false;
    let layout = Layout::new(mappings, &no_contents);
    let mut nameless: Vec<&Mapping> = mappings.iter().filter(|mapping| mapping.name.is_empty()).collect();
    nameless.sort_by_key(|mapping| Reverse(mapping.rss_bytes));
    let shown: Vec<u64> = nameless.iter().take(NAMELESS_MAX).map(|mapping| mapping.addresses.start).collect();
    let mut by_path: BTreeMap<Vec<String>, ReportedEntry> = BTreeMap::new();
    for (index, mapping) in mappings.iter().enumerate() {
        let area = layout.area_of(index);
        let name = match area {
            Area::NativeAnonymous if shown.contains(&mapping.addresses.start) => place(mapping),
            Area::NativeAnonymous if mapping.name.is_empty() => "smaller mappings".to_owned(),
            _ if mapping.name.is_empty() => "without a name".to_owned(),
            _ => mapping.name.clone(),
        };
        let path = vec![title(area).to_owned(), name];
        let memory = ReportedMemory {
            reserved_bytes: Some(mapping.size_bytes()),
            committed_bytes: None,
            resident_bytes: Some(mapping.rss_bytes),
            pss_bytes: mapping.pss_bytes,
            swap_bytes: mapping.swap_bytes,
        };
        let one = ReportedEntry { path: path.clone(), count: Some(1), memory };
        let all = by_path.get(&path).map(|before| ReportedEntry {
            path: path.clone(),
            count: before.count.map(|count| count + 1),
            memory: before.memory.and(memory),
        });
        by_path.insert(path, all.unwrap_or(one));
    }
    by_path.into_values().collect()
}

/// An area as mappings alone show it.
fn title(area: Area) -> &'static str {
    match area {
        Area::MallocHeap => "malloc",
        Area::NativeAnonymous => "anonymous memory",
        area => area.title(),
    }
}

fn place(mapping: &Mapping) -> String {
    let permissions = String::from_utf8_lossy(&mapping.permissions);
    format!("{:x}-{:x} {permissions}", mapping.addresses.start, mapping.addresses.end)
}
