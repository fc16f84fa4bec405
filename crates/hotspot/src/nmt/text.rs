//! Text of `jcmd PID VM.native_memory`, `summary` and `detail`, of any scale, JDK 8 to 28; a difference (`summary.diff`) has its newer
//! figures. Format: `memReporter.cpp` of OpenJDK.

/// Categories and call sites that are kept: a JVM has about thirty categories, and a detail some thousand sites.
const TAGS_MAX: usize = 256;
const PARTS_MAX: usize = 16;
const SITES_MAX: usize = 1 << 16;

/// What native memory tracking printed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NmtText {
    /// The process, where the first line names it.
    pub pid: Option<u32>,
    /// Bytes of the unit in which it prints, rounded: every figure may be off by as much.
    pub unit_bytes: u64,
    /// All of it.
    pub total: NmtAmount,
    /// By category, in the order of the text.
    pub tags: Vec<NmtTagText>,
    /// Call sites of malloc, in the order of the text; a summary has none.
    pub sites: Vec<NmtSite>,
}

/// Bytes of the address space, and what of them may be used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NmtAmount {
    /// Reserved; equal to `committed_bytes` for malloc.
    pub reserved_bytes: u64,
    /// Committed, resident or not.
    pub committed_bytes: u64,
}

/// A category.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NmtTagText {
    /// Its name, such as `Java Heap`.
    pub name: String,
    /// All of it.
    pub amount: NmtAmount,
    /// Classes or threads.
    pub count: Option<u64>,
    /// `malloc`, `arena`, `mmap`, `stack`, `tracking overhead`.
    pub parts: Vec<NmtPart>,
}

/// A part of a category.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NmtPart {
    /// As the text names it.
    pub name: String,
    /// Its bytes.
    pub amount: NmtAmount,
    /// Number of blocks.
    pub count: Option<u64>,
}

/// Code that allocates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NmtSite {
    /// The category.
    pub tag: String,
    /// Its innermost frame.
    pub frame: String,
    /// Bytes in blocks.
    pub bytes: u64,
    /// Number of blocks.
    pub count: Option<u64>,
}

/// Whether a text, or its beginning, is of this kind.
pub fn is_nmt_text(text: &str) -> bool {
    text.lines().any(|line| line.trim() == "Native Memory Tracking:")
}

/// Parses the text; `None` where it has no total, as when tracking is off. Lines of no known form are passed over.
pub fn parse_nmt_text(text: &str) -> Option<NmtText> {
    let mut read = NmtText::default();
    let mut has_total = false;
    let mut part = Where::Categories;
    let mut frame: Option<&str> = None;
    for line in text.lines().map(str::trim_end) {
        let inner = line.trim_start();
        match (part, inner) {
            (_, "Virtual memory map:") => part = Where::Map,
            (_, "Details:") => part = Where::Sites,
            (Where::Map, _) => {}
            (Where::Categories, _) if !has_total && inner.starts_with("Total:") => {
                let amount = amount_of(inner)?;
                (read.total, read.unit_bytes) = (amount.0, amount.1);
                has_total = true;
            }
            (Where::Categories, _) if inner.starts_with('-') => read.tags.extend(tag_of(inner)),
            (Where::Categories, _) if inner.starts_with('(') => {
                if let Some(tag) = read.tags.last_mut() {
                    add_to(tag, inner);
                }
            }
            (Where::Categories, _) => {
                let pid = inner.strip_suffix(':').and_then(|digits| digits.parse().ok());
                read.pid = read.pid.or(pid);
            }
            (Where::Sites, _) if inner.starts_with("[0x") => frame = frame.or(frame_of(inner)),
            (Where::Sites, _) => {
                let site = frame.take().and_then(|frame| site_of(frame, inner));
                read.sites.extend(site.filter(|_| read.sites.len() < SITES_MAX));
            }
        }
        if TAGS_MAX <= read.tags.len() {
            break;
        }
    }
    has_total.then_some(read)
}

/// Parts of the text.
#[derive(Clone, Copy)]
enum Where {
    Categories,
    /// Each range of addresses, in `detail`: the sums above have it.
    Map,
    Sites,
}

/// `-                 Java Heap (reserved=4030464KB, committed=253952KB)`
fn tag_of(line: &str) -> Option<NmtTagText> {
    let (name, figures) = line.trim_start_matches('-').split_once('(')?;
    let (amount, _) = amount_of(figures)?;
    Some(NmtTagText { name: name.trim().to_owned(), amount, ..NmtTagText::default() })
}

/// A line below a category, such as `(malloc=181KB #2345)`; those below another line begin with a blank, and are in its figures.
fn add_to(tag: &mut NmtTagText, line: &str) {
    let within = line[1..].split_once(')').map_or("", |(within, _)| within);
    let name = within.split(['=', ':', '#']).next().unwrap_or_default().trim_end();
    let amount = match name {
        "classes" | "thread" | "threads" => {
            tag.count = count_in(within);
            None
        }
        "malloc" | "arena" | "tracking overhead" => bytes_of(within, &format!("{name}="))
            .map(|(bytes, _)| NmtAmount { reserved_bytes: bytes, committed_bytes: bytes }),
        "mmap" | "stack" => amount_of(within).map(|(amount, _)| amount),
        _ => None,
    };
    if let Some(amount) = amount.filter(|_| tag.parts.len() < PARTS_MAX) {
        tag.parts.push(NmtPart { name: name.to_owned(), amount, count: count_in(within) });
    }
}

/// `[0x00007f5d8b1d5c4f] os::malloc(unsigned long)+0x1d`
fn frame_of(line: &str) -> Option<&str> {
    let frame = line.split_once(']')?.1.trim();
    Some(frame.rsplit_once("+0x").map_or(frame, |(name, _)| name)).filter(|name| !name.is_empty())
}

/// `(malloc=24KB type=Module #154)`, below the frames of a site; `((malloc=24KB tag=Module #154) (at peak))` since JDK 24.
fn site_of(frame: &str, line: &str) -> Option<NmtSite> {
    let within = line.trim_start_matches('(').strip_prefix("malloc=")?.split_once(')')?.0;
    let (bytes, _) = bytes_of(line, "malloc=")?;
    let tag = within.split_once("type=").or_else(|| within.split_once("tag="))?.1;
    let tag = tag.split(['#', '+', ',']).next().unwrap_or_default().trim();
    Some(NmtSite { tag: tag.to_owned(), frame: frame.to_owned(), bytes, count: count_in(within) })
}

/// `reserved=5754443KB, committed=354744KB`, with the bytes of its unit.
fn amount_of(text: &str) -> Option<(NmtAmount, u64)> {
    let (reserved_bytes, unit_bytes) = bytes_of(text, "reserved=")?;
    let (committed_bytes, _) = bytes_of(text, "committed=")?;
    Some((NmtAmount { reserved_bytes, committed_bytes }, unit_bytes))
}

/// The bytes behind a label, and those of their unit.
fn bytes_of(text: &str, label: &str) -> Option<(u64, u64)> {
    let rest = &text[text.find(label)? + label.len()..];
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let unit_bytes = match rest[end..].split(|c: char| !c.is_ascii_alphabetic()).next()? {
        "" | "B" => 1,
        "KB" => 1 << 10,
        "MB" => 1 << 20,
        "GB" => 1 << 30,
        _ => return None,
    };
    Some((rest[..end].parse::<u64>().ok()?.checked_mul(unit_bytes)?, unit_bytes))
}

/// The number behind `#`.
fn count_in(text: &str) -> Option<u64> {
    let rest = text.split_once('#')?.1;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUMMARY: &str = "\
4242:

Native Memory Tracking:

(Omitting categories weighting less than 1KB)

Total: reserved=1500KB, committed=700KB
       malloc: 100KB #30, peak=120KB #35
       mmap:   reserved=1400KB, committed=600KB

-                 Java Heap (reserved=1024KB, committed=512KB)
                            (mmap: reserved=1024KB, committed=512KB, peak=512KB) 
 
-                     Class (reserved=400KB +2KB, committed=112KB +2KB)
                            (classes #1234 +4)
                            (  instance classes #1100, array classes #134)
                            (malloc=24KB +2KB #2345 +7) (peak=30KB #3)
                            (mmap: reserved=376KB, committed=88KB)
                            : (reserved=9KB, committed=9KB)
                            (  Metadata:   )
                            (    reserved=8192KB, committed=5632KB)
                            (    used=5500KB)
-                    Thread (reserved=76KB, committed=76KB)
                            (threads #22)
                            (stack: reserved=64KB, committed=64KB)
                            (malloc=8KB tag=Thread #130)
                            (arena=4KB #43)
";

    #[test]
    fn every_category_has_its_parts_and_nothing_that_is_within_another() {
        let read = parse_nmt_text(SUMMARY).expect("a report");
        assert!(is_nmt_text(SUMMARY));
        assert_eq!((read.pid, read.unit_bytes), (Some(4242), 1024));
        assert_eq!(read.total, NmtAmount { reserved_bytes: 1500 << 10, committed_bytes: 700 << 10 });
        let sum: u64 = read.tags.iter().map(|tag| tag.amount.committed_bytes).sum();
        assert_eq!(sum, read.total.committed_bytes);
        let names: Vec<&str> = read.tags.iter().map(|tag| tag.name.as_str()).collect();
        assert_eq!(names, ["Java Heap", "Class", "Thread"]);
        for tag in &read.tags {
            let parts: u64 = tag.parts.iter().map(|part| part.amount.committed_bytes).sum();
            assert_eq!(parts, tag.amount.committed_bytes, "{tag:?}");
        }
        assert_eq!(read.tags.iter().map(|tag| tag.count).collect::<Vec<_>>(), [None, Some(1234), Some(22)]);
        let malloc = &read.tags[1].parts[0];
        assert_eq!((malloc.name.as_str(), malloc.count), ("malloc", Some(2345)));
    }

    #[test]
    fn a_detail_adds_call_sites_with_their_innermost_frame() {
        let detail = format!(
            "{SUMMARY}\nVirtual memory map:\n\n[0x00007f0 - 0x00007f1] reserved 1024KB for Java Heap from\n    \
             [0x00007f5d] ReservedHeapSpace::ReservedHeapSpace(unsigned long)+0xb5\n\nDetails:\n\n\
             [0x00007f5d] ModuleEntryTable::locked_create_entry(Handle, bool)+0x1f\n\
             [0x00007f5e] Modules::define_module()+0x6\n                             (malloc=24KB type=Module #154)\n\n\
             [0x00007f60]Arena::grow(unsigned long)+0x3\n                             ((malloc=2KB tag=Arena Chunk #1) (peak=4KB #2))\n\n\
             [0x00007f70] os::reserve()+0x3\n                             (mmap: reserved=9KB, committed=9KB Type=Code)\n"
        );
        let read = parse_nmt_text(&detail).expect("a report");
        assert_eq!(read.tags.len(), 3);
        let sites: Vec<_> = read
            .sites
            .iter()
            .map(|site| (site.tag.as_str(), site.frame.as_str(), site.bytes, site.count))
            .collect();
        assert_eq!(
            sites,
            [
                ("Module", "ModuleEntryTable::locked_create_entry(Handle, bool)", 24 << 10, Some(154)),
                ("Arena Chunk", "Arena::grow(unsigned long)", 2 << 10, Some(1)),
            ]
        );
    }

    #[test]
    fn units_are_those_of_the_text_and_what_has_no_total_is_no_report() {
        let in_unit = |unit: &str| {
            let text = format!("Native Memory Tracking:\nTotal: reserved=3{unit}, committed=2{unit}\n");
            parse_nmt_text(&text).map(|read| read.total.committed_bytes)
        };
        let read = ["", "KB", "MB", "GB", "XB"].map(in_unit);
        assert_eq!(read, [Some(2), Some(2 << 10), Some(2 << 20), Some(2 << 30), None]);
        for none in
            ["", "Native memory tracking is not enabled", "Native Memory Tracking:\n", "Total: reserved=1KB"]
        {
            assert_eq!(parse_nmt_text(none), None, "{none}");
        }
        let huge = format!("Total: reserved={0}KB, committed={0}KB", u64::MAX);
        assert_eq!(parse_nmt_text(&huge), None);
        for cut in 0..SUMMARY.len() {
            let _ = parse_nmt_text(&SUMMARY[..cut]);
        }
    }
}
