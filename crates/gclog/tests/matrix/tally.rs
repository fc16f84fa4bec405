//! The first oracle: what `grep` would count. It shares nothing with the reader: a line is cut at brackets, and its last word is a
//! number with three decimals.

/// Pauses of one collection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counted {
    pub count: u64,
    /// Thousandths of a millisecond, as the log writes them.
    pub total_us: u64,
}

/// What stands in the lines of a log.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    pub lines: u64,
    pub pauses: Counted,
    pub stalls: Counted,
    pub safepoints: u64,
    pub safepoint_total_ns: u64,
    /// Cycles of ZGC that tell their heap before and after.
    pub z_cycles: u64,
    /// Messages that the JVM says it dropped.
    pub dropped: u64,
    /// Heap before and after of each pause and cycle of ZGC that tells it, bytes, and the unit of that.
    pub heaps: Vec<[u64; 3]>,
    /// Whether Shenandoah says how many collections it completed.
    pub has_closing_count: bool,
}

impl Tally {
    pub fn of(text: &str) -> Tally {
        let mut tally = Tally::default();
        for line in text.split_inclusive('\n') {
            tally.lines += 1;
            // A line that breaks off is no evidence.
            if let Some(line) = line.strip_suffix('\n') {
                tally.take(message(line));
            }
        }
        tally
    }

    fn take(&mut self, message: &str) {
        let what = without_id(message);
        // A part of ZGC's Pause Mark End, at debug level.
        if what.starts_with("Pause ") && !what.starts_with("Pause Mark Try Complete") {
            if let Some(us) = last_word_us(what) {
                self.pauses.count += 1;
                self.pauses.total_us += us;
                self.heaps.extend(heap(what));
            }
        } else if ["Allocation Stall (", "Relocation Stall (", "JNI Critical Stall ("]
            .iter()
            .any(|s| what.starts_with(s))
        {
            if let Some(us) = last_word_us(what) {
                self.stalls.count += 1;
                self.stalls.total_us += us;
            }
        } else if what.starts_with("Safepoint \"") {
            let total =
                what.split("Total: ").nth(1).and_then(|rest| rest.split(' ').next()?.parse::<u64>().ok());
            if let Some(ns) = total {
                self.safepoints += 1;
                self.safepoint_total_ns += ns;
            }
        } else if ["Garbage Collection (", "Major Collection (", "Minor Collection ("]
            .iter()
            .any(|s| what.starts_with(s))
            && what.contains("->")
        {
            self.z_cycles += 1;
            self.heaps.extend(heap(what));
        } else if let Some(count) = what.trim_start().strip_suffix(" messages dropped due to async logging") {
            self.dropped += count.parse::<u64>().unwrap_or(0);
        } else if what.contains(" Completed GCs") || what.contains(" successful concurrent GCs") {
            self.has_closing_count = true;
        }
    }
}

/// A line without what stands in brackets before its message.
fn message(mut line: &str) -> &str {
    while let Some(rest) = line.strip_prefix('[') {
        let Some((_, rest)) = rest.split_once(']') else { return line };
        line = rest;
    }
    line.strip_prefix(' ').unwrap_or(line)
}

/// `GC(7) y: Pause` is a pause.
fn without_id(message: &str) -> &str {
    let Some((_, rest)) = message.strip_prefix("GC(").and_then(|rest| rest.split_once(") ")) else {
        return message;
    };
    ["y: ", "Y: ", "O: "].iter().find_map(|part| rest.strip_prefix(part)).unwrap_or(rest)
}

/// `12M->3M(64M)`, `12M(5%)->3M(1%)`: the word with the arrow.
fn heap(what: &str) -> Option<[u64; 3]> {
    let (before, after) = what.split(' ').find_map(|word| word.split_once("->"))?;
    let read = |text: &str| {
        let text = text.split('(').next().unwrap_or(text);
        let unit = match text.bytes().last()? {
            b'K' => 1 << 10,
            b'M' => 1 << 20,
            b'G' => 1 << 30,
            _ => return None,
        };
        Some((text[..text.len() - 1].parse::<u64>().ok()? * unit, unit))
    };
    let ((before, unit), (after, _)) = (read(before)?, read(after)?);
    Some([before, after, unit])
}

/// `12.345ms` at the end is 12345.
fn last_word_us(text: &str) -> Option<u64> {
    let number = text.rsplit(' ').next()?.strip_suffix("ms")?;
    let (whole, decimals) = number.split_once('.')?;
    if decimals.len() != 3 || decimals.contains('/') {
        return None;
    }
    Some(whole.parse::<u64>().ok()? * 1_000 + decimals.parse::<u64>().ok()?)
}
