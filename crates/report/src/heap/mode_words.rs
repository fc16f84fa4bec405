//! What the modes of heap sizes say in words.

use assay_kit::number::{counted, size, xmx};
use assay_kit::text::clean;
use assay_model::{HeapModes, ModeCell, ModeOfLog, ModeThreshold, ReferenceMode};
use std::collections::BTreeMap;

/// A mode's name where there is little room.
pub fn short(mode: ReferenceMode) -> &'static str {
    told(mode).0
}

/// Class of a mode's fill.
pub fn mode_class(mode: ReferenceMode) -> &'static str {
    told(mode).1
}

/// What following a reference takes in a mode.
pub fn decoding(mode: ReferenceMode) -> &'static str {
    told(mode).2
}

fn told(mode: ReferenceMode) -> (&'static str, &'static str, &'static str) {
    const ADDRESSES: &str = "4-byte references, used as addresses";
    use ReferenceMode as M;
    match mode {
        M::Bits32 => ("32-bit", "f12", ADDRESSES),
        M::CompressedUnscaled => ("unscaled", "f2", ADDRESSES),
        M::CompressedZeroBased => ("zero-based", "f0", "4-byte references, shifted"),
        M::CompressedDisjointBase => ("disjoint", "f5", "4-byte references, shifted, base set by OR"),
        M::CompressedNonZeroBase => ("non-zero", "f1", "4-byte references, shifted, base added"),
        M::Full64CompressedClassPointers => ("64-bit-ccp", "f9", "8-byte references, 4-byte class pointers"),
        M::Full64 => ("64-bit", "f8", "8-byte references and class pointers"),
    }
}

/// The modes from the cheapest decoding on.
pub fn rank(mode: ReferenceMode) -> usize {
    ReferenceMode::ALL.iter().position(|m| *m == mode).unwrap_or(ReferenceMode::ALL.len())
}

/// How sure a cell is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Proof {
    /// A JVM started so has the mode that was computed.
    Verified,
    /// A JVM started so has another mode, or its heap is elsewhere.
    Contradicted,
    /// Computed alone.
    Computed,
    /// Nothing computed: what a started JVM said.
    SeenOnly,
    /// Neither.
    Unknown,
}

impl Proof {
    /// Of a cell.
    pub fn of(cell: &ModeCell) -> Self {
        match (cell.computed_mode, cell.verified_mode) {
            (Some(_), Some(_)) if cell.has_other_mode() || cell.has_other_base() => Proof::Contradicted,
            (Some(_), Some(_)) => Proof::Verified,
            (Some(_), None) => Proof::Computed,
            (None, Some(_)) => Proof::SeenOnly,
            (None, None) => Proof::Unknown,
        }
    }

    /// Its mark behind the mode's name.
    pub fn mark(self) -> &'static str {
        match self {
            Proof::Verified => "✓",
            Proof::Contradicted => "✗",
            Proof::SeenOnly => "•",
            Proof::Computed | Proof::Unknown => "",
        }
    }
}

/// The mode of a cell: what a JVM said, else what was computed.
pub fn mode_of(cell: &ModeCell) -> Option<ReferenceMode> {
    cell.verified_mode.or(cell.computed_mode)
}

/// A cell in a sentence: everything that is known of it.
pub fn cell_sentence(cell: &ModeCell) -> String {
    let name = |mode: Option<ReferenceMode>| mode.map_or("not known", ReferenceMode::name);
    let said = match Proof::of(cell) {
        Proof::Verified => format!("{}, verified", name(cell.computed_mode)),
        Proof::Contradicted if cell.has_other_base() => {
            let computed = cell.computed_base_address.map_or_else(String::new, |at| format!("{at:#x}"));
            format!("{} as computed, but not at the computed {computed}", name(cell.computed_mode))
        }
        Proof::Contradicted => {
            format!(
                "computed {}, but a JVM started so has {}",
                name(cell.computed_mode),
                name(cell.verified_mode)
            )
        }
        Proof::Computed => format!("{}, computed", name(cell.computed_mode)),
        Proof::SeenOnly => format!("{} by a JVM started so", name(cell.verified_mode)),
        Proof::Unknown => "mode not known".to_owned(),
    };
    let shift = cell.shift_bits.map_or_else(String::new, |s| format!(", shift {s}"));
    let base = cell.base_address.or(cell.computed_base_address);
    let base = base.map_or_else(String::new, |b| format!(", heap at {b:#x}"));
    let base = if is_random(cell) { format!("{base}, {RANDOM}") } else { base };
    let why =
        if cell.decided_by.is_empty() { String::new() } else { format!(": {}", clean(&cell.decided_by)) };
    let not = cell.not_verified_because.as_deref();
    let not = not.map_or_else(String::new, |n| format!("; not verified: {}", clean(n)));
    format!("-Xmx{} with {}: {said}{shift}{base}{why}{not}", xmx(cell.max_heap_bytes), clean(&cell.collector))
}

/// Why a base address says nothing of the next start.
const RANDOM: &str = "an address that the kernel chooses at each start";

/// Whether the JVM leaves it to the kernel where the heap lies.
fn is_random(cell: &ModeCell) -> bool {
    let mode = cell.computed_mode.filter(|mode| *mode != ReferenceMode::Bits32);
    mode.is_some() && cell.computed_base_address.is_none()
}

/// What decides the mode of cells, in words: of those on both sides of a threshold, and of those whose mode is not known. What
/// decides several alike is stated once.
pub fn deciding(modes: &HeapModes, matrix: &Matrix<'_>) -> Vec<String> {
    let is_told = |cell: &ModeCell| {
        mode_of(cell).is_none()
            || modes.thresholds.iter().any(|threshold| {
                (threshold.java.as_str(), threshold.collector.as_str())
                    == (cell.java.as_str(), cell.collector.as_str())
                    && [0, 1 << 20]
                        .contains(&cell.max_heap_bytes.wrapping_sub(threshold.largest_max_heap_bytes))
            })
    };
    let mut told: Vec<(String, Vec<String>)> = Vec::new();
    for (max_heap_bytes, cells) in &matrix.rows {
        for cell in cells.iter().flatten().filter(|cell| !cell.decided_by.is_empty() && is_told(cell)) {
            let place = match (cell.base_address, cell.computed_base_address) {
                _ if is_random(cell) => format!("{RANDOM}, "),
                (Some(base), _) | (None, Some(base)) => format!("heap at {base:#x}, "),
                (None, None) => String::new(),
            };
            let mode = mode_of(cell).map_or("not known", short);
            let what = format!("-Xmx{} {mode}: {place}{}", xmx(*max_heap_bytes), clean(&cell.decided_by));
            let collector = clean(&cell.collector);
            match told.iter_mut().find(|(known, _)| *known == what) {
                Some((_, collectors)) => collectors.push(collector),
                None => told.push((what, vec![collector])),
            }
        }
    }
    told.into_iter().map(|(what, collectors)| format!("{what} ({})", collectors.join(", "))).collect()
}

/// Cells of one JVM with the same options: rows by heap size, a column for each collector.
pub struct Matrix<'a> {
    /// JVM and options.
    pub title: String,
    /// Collectors, cleaned.
    pub collectors: Vec<String>,
    /// `-Xmx` in bytes with the cells of the collectors.
    pub rows: Vec<(u64, Vec<Option<&'a ModeCell>>)>,
}

/// Cells by JVM and options, in the order in which they come.
pub fn matrices(modes: &HeapModes) -> Vec<Matrix<'_>> {
    let mut keys: Vec<(&str, u32, &[String])> = Vec::new();
    for cell in &modes.cells {
        let key = (cell.java.as_str(), cell.jdk, cell.options.as_slice());
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys.into_iter().map(|key| matrix(modes, key)).collect()
}

fn matrix<'a>(modes: &'a HeapModes, (java, jdk, options): (&str, u32, &[String])) -> Matrix<'a> {
    let cells: Vec<&ModeCell> =
        modes.cells.iter().filter(|c| c.java == java && c.jdk == jdk && c.options == options).collect();
    let mut collectors: Vec<&str> = Vec::new();
    let mut rows: BTreeMap<u64, Vec<Option<&ModeCell>>> = BTreeMap::new();
    for cell in &cells {
        if !collectors.contains(&cell.collector.as_str()) {
            collectors.push(&cell.collector);
        }
    }
    for cell in &cells {
        let row = rows.entry(cell.max_heap_bytes).or_insert_with(|| vec![None; collectors.len()]);
        let column = collectors.iter().position(|c| *c == cell.collector);
        if let Some(place) = column.and_then(|column| row.get_mut(column)) {
            *place = Some(cell);
        }
    }
    let options: String = options.iter().map(|o| format!(" {}", clean(o))).collect();
    Matrix {
        title: format!("JDK {jdk}{options}: {}", clean(java)),
        collectors: collectors.into_iter().map(clean).collect(),
        rows: rows.into_iter().collect(),
    }
}

/// Thresholds of collectors that have the same, joined.
pub struct Thresholds {
    /// JVM.
    pub java: String,
    /// Collectors.
    pub collectors: Vec<String>,
    /// Alignment of objects in bytes.
    pub alignment_bytes: u64,
    /// Modes with their largest `-Xmx` in bytes and whether that was verified, from the smallest heap on.
    pub steps: Vec<(ReferenceMode, u64, bool)>,
}

/// By JVM and alignment; collectors with the same steps are one.
pub fn thresholds(modes: &HeapModes) -> Vec<Thresholds> {
    let mut all: Vec<Thresholds> = Vec::new();
    let is_of = |c: &Thresholds, threshold: &ModeThreshold| {
        c.java == threshold.java
            && c.collectors == [threshold.collector.as_str()]
            && c.alignment_bytes == threshold.alignment_bytes
    };
    for threshold in &modes.thresholds {
        let step = (threshold.mode, threshold.largest_max_heap_bytes, threshold.is_verified);
        match all.iter_mut().find(|c| is_of(c, threshold)) {
            Some(known) => known.steps.push(step),
            None => all.push(Thresholds {
                java: threshold.java.clone(),
                collectors: vec![threshold.collector.clone()],
                alignment_bytes: threshold.alignment_bytes,
                steps: vec![step],
            }),
        }
    }
    let mut joined: Vec<Thresholds> = Vec::new();
    for mut threshold in all {
        threshold.steps.sort_by_key(|(mode, largest, _)| (*largest, rank(*mode)));
        let same = |j: &&mut Thresholds| {
            j.java == threshold.java
                && j.alignment_bytes == threshold.alignment_bytes
                && j.steps == threshold.steps
        };
        match joined.iter_mut().find(same) {
            Some(known) => known.collectors.extend(threshold.collectors),
            None => joined.push(threshold),
        }
    }
    joined
}

/// The answer in one sentence: the largest heap of the cheap modes, over all JVMs; what was read where nothing else was
/// asked for.
pub fn headline(modes: &HeapModes) -> String {
    if modes.cells.is_empty() && !modes.read.is_empty() {
        return read_headline(&modes.read);
    }
    let alignment = modes.thresholds.iter().map(|threshold| threshold.alignment_bytes).min();
    let thresholds = || modes.thresholds.iter().filter(|c| Some(c.alignment_bytes) == alignment);
    let largest = |of: &[ReferenceMode]| {
        let mut by_column: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for threshold in thresholds().filter(|c| of.contains(&c.mode)) {
            let bytes = by_column.entry((&threshold.java, &threshold.collector)).or_default();
            *bytes = threshold.largest_max_heap_bytes.max(*bytes);
        }
        let (low, high) = by_column.values().fold((u64::MAX, 0), |(l, h), b| (l.min(*b), h.max(*b)));
        match high {
            0 => None,
            _ if low == high => Some(format!("-Xmx{}", xmx(high))),
            _ => Some(format!("-Xmx{} (with some collectors {})", xmx(low), xmx(high))),
        }
    };
    use ReferenceMode as M;
    let modes_told: [(&[M], &str); 3] = [
        (&[M::CompressedUnscaled], "unscaled"),
        (&[M::CompressedZeroBased], "zero-based"),
        (&[M::CompressedDisjointBase, M::CompressedNonZeroBase], "with a base"),
    ];
    let told: Vec<String> =
        modes_told.iter().filter_map(|(of, what)| Some(format!("{what} up to {}", largest(of)?))).collect();
    if told.is_empty() {
        let sizes = counted(modes.cells.len() as u64, "heap size was", "heap sizes were");
        return format!("{sizes} checked. No threshold is known");
    }
    let aligned = match alignment {
        Some(bytes) if bytes != 8 => format!(", with {bytes}-byte object alignment,"),
        _ => String::new(),
    };
    format!("On this host{aligned} compressed oops are {}", told.join("; "))
}

/// How many cells were proved, in a sentence without its full stop.
pub fn proofs(modes: &HeapModes) -> String {
    let number = |proof: Proof| modes.cells.iter().filter(|c| Proof::of(c) == proof).count();
    let all = modes.cells.len();
    let (verified, wrong) = (number(Proof::Verified), number(Proof::Contradicted));
    let (seen, unknown) = (number(Proof::SeenOnly), number(Proof::Unknown));
    let mut told = vec![format!("{verified} of {all} cells verified by starting a JVM")];
    for (n, what) in [
        (wrong, "contradicted"),
        (number(Proof::Computed), "computed only"),
        (seen, "seen only"),
        (unknown, "not known"),
    ] {
        if n > 0 {
            told.push(format!("{n} {what}"));
        }
    }
    told.join(", ")
}

/// What to do where no rule has advice: prove what is only computed, or use what is known.
pub fn next_step(modes: &HeapModes) -> &'static str {
    if modes.cells.iter().any(|cell| Proof::of(cell) == Proof::Computed) {
        "→ Start a JVM at both sides of each threshold to prove these modes: assay heap modes --verify."
    } else {
        "→ Keep -Xmx at or below a threshold: beyond it the same objects take more."
    }
}

/// Why cells could not be verified, each reason once, with how many and one of them.
pub fn reasons(modes: &HeapModes) -> Vec<String> {
    let mut reasons: BTreeMap<&str, (usize, &ModeCell)> = BTreeMap::new();
    for cell in &modes.cells {
        if let Some(why) = cell.not_verified_because.as_deref() {
            reasons.entry(why).or_insert((0, cell)).0 += 1;
        }
    }
    let told = |(why, (number, cell)): (&str, (usize, &ModeCell))| {
        let xmx = xmx(cell.max_heap_bytes);
        format!("{number} not verified, as -Xmx{xmx} with {}: {}", clean(&cell.collector), clean(why))
    };
    reasons.into_iter().map(told).collect()
}

/// Cells whose computed mode a JVM contradicts, in words.
pub fn contradictions(modes: &HeapModes) -> Vec<String> {
    let wrong = modes.cells.iter().filter(|c| Proof::of(c) == Proof::Contradicted);
    wrong.map(|c| format!("JDK {}: {}", c.jdk, cell_sentence(c))).collect()
}

/// What was read, where nothing else was asked for.
fn read_headline(read: &[ModeOfLog]) -> String {
    let name = |read: &ModeOfLog| match (&read.mode, read.j9_is_compressed) {
        (Some(mode), _) => mode.mode.name().to_owned(),
        (None, Some(true)) => "J9 with compressed references".to_owned(),
        (None, Some(false)) => "J9 with full references".to_owned(),
        (None, None) => "not known".to_owned(),
    };
    let told: Vec<String> = read.iter().map(|r| format!("{}: {}", clean(&r.source), name(r))).collect();
    format!("Mode of {}", told.join("; "))
}

/// What a log or a process says, in a sentence.
pub fn read_sentence(read: &ModeOfLog) -> String {
    let mode = match &read.mode {
        Some(mode) => {
            let shift = mode.shift_bits.map_or_else(String::new, |s| format!(", shift {s}"));
            let base = mode.heap_base_address.map_or_else(String::new, |b| format!(", heap at {b:#x}"));
            let compact = match mode.compact_headers {
                Some(true) => ", compact headers",
                Some(false) => ", no compact headers",
                None => "",
            };
            format!("{}{shift}{base}{compact} ({})", mode.mode.name(), clean(&mode.evidence))
        }
        None => match read.j9_is_compressed {
            Some(true) => "J9, compressed references".to_owned(),
            Some(false) => "J9, full references".to_owned(),
            None => "does not say its mode".to_owned(),
        },
    };
    format!("{}: {mode}", clean(&read.source))
}

/// A range of addresses with its size, in words.
pub fn range_size(from: u64, to: u64) -> String {
    size(to.saturating_sub(from))
}
