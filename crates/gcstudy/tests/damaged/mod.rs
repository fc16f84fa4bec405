//! Logs that went through much: lines of real ones torn, spliced, interleaved, repeated, lost, with numbers that no JVM writes.
//! All from one seed, so that what fails can be made again.

use assay_gclog::{GcSink, GcStream};
use assay_gcstudy::Analysis;
use assay_model::GcReport;
use assay_testkit::SplitMix;

/// Chooses what is damaged, and how.
pub struct Dice(SplitMix);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Dice(SplitMix(seed))
    }

    fn roll(&mut self, sides: usize) -> usize {
        usize::try_from(self.0.bits() % (sides.max(1) as u64)).unwrap_or(0)
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        let at = self.roll(of.len());
        of.get(at)
    }
}

const NUMBERS: [&str; 12] = [
    "0",
    "-1",
    "18446744073709551615",
    "18446744073709551616",
    "9223372036854775807",
    "99999999999999999999999999999999999999",
    "0.000000000000000000001",
    "1e308",
    "NaN",
    "4294967296",
    "16777216T",
    "",
];

/// A log from pieces of these, a hundred lines or so. Two sources are parted by a form feed.
pub fn damaged_log(dice: &mut Dice, originals: &[Vec<u8>]) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = Vec::new();
    for _ in 0..=dice.roll(3) {
        let Some(original) = dice.pick(originals) else { continue };
        let all: Vec<&[u8]> = original.split_inclusive(|byte| *byte == b'\n').collect();
        // The head tells which JVM it is: often from the beginning.
        let from = if dice.roll(2) == 0 { 0 } else { dice.roll(all.len()) };
        let piece = all.iter().skip(from).take(1 + dice.roll(60)).map(|line| line.to_vec());
        if dice.roll(3) == 0 {
            // Two that write at once.
            let mut at = 0;
            for line in piece {
                at = (at + dice.roll(3)).min(lines.len());
                lines.insert(at, line);
                at += 1;
            }
        } else {
            lines.extend(piece);
        }
    }
    for _ in 0..dice.roll(12) {
        damage(dice, &mut lines, originals);
    }
    lines.concat()
}

fn damage(dice: &mut Dice, lines: &mut Vec<Vec<u8>>, originals: &[Vec<u8>]) {
    let at = dice.roll(lines.len());
    let Some(line) = lines.get_mut(at) else { return };
    let cut = dice.roll(line.len() + 1).min(line.len());
    match dice.roll(11) {
        // Torn: the next line goes on in the middle of this one.
        0 => line.truncate(cut),
        1 => line.drain(..cut).for_each(drop),
        2 => drop(lines.remove(at)),
        3 => {
            let copy = line.clone();
            lines.insert(at, copy);
        }
        // A concurrent thread writes into the middle.
        4 => {
            if let Some(other) = dice.pick(originals) {
                let from = dice.roll(other.len());
                let piece: Vec<u8> = other.iter().skip(from).take(dice.roll(120)).copied().collect();
                line.splice(cut..cut, piece);
            }
        }
        5 => {
            let other = dice.roll(lines.len());
            lines.swap(at, other);
        }
        6 | 7 => number(dice, line),
        8 => {
            if let Some(byte) = line.get_mut(cut) {
                *byte = u8::try_from(dice.roll(256)).unwrap_or(0);
            }
        }
        // The disk was full, and room was made.
        9 => {
            line.truncate(cut);
            line.extend_from_slice(&[0; 40]);
        }
        _ => line.insert(cut, b'\x0c'),
    }
}

/// Puts a number in the place of another.
fn number(dice: &mut Dice, line: &mut Vec<u8>) {
    let digits: Vec<usize> = (0..line.len()).filter(|at| line[*at].is_ascii_digit()).collect();
    let Some(&from) = dice.pick(&digits) else { return };
    let to = (from..line.len()).find(|at| !line[*at].is_ascii_digit()).unwrap_or(line.len());
    if let Some(other) = dice.pick(&NUMBERS) {
        line.splice(from..to, other.bytes());
    }
}

/// Reads it in portions of this length, each source of it.
pub fn report_of(log: &[u8], portion: usize) -> GcReport {
    let mut analysis = Analysis::default();
    let mut stream = GcStream::default();
    for (index, source) in log.split(|byte| *byte == b'\x0c').enumerate() {
        stream.begin_source(&index.to_string(), &mut analysis);
        source.chunks(portion).for_each(|chunk| stream.feed(chunk, &mut analysis));
        if index % 3 == 2 {
            stream.flush(&mut analysis as &mut dyn GcSink);
        }
        stream.end_source(&mut analysis);
    }
    stream.finish(&mut analysis);
    analysis.report()
}

/// Lines that end with a line feed, a carriage return, or both, in UTF-8 or UTF-16, which a mark shows or two characters.
fn lines_of(bytes: &[u8]) -> u64 {
    let of_two = |of: fn([u8; 2]) -> u16, mark: usize| {
        bytes[mark..].as_chunks().0.iter().map(|two| of(*two)).collect()
    };
    let text: Vec<u16> = match bytes {
        [0xff, 0xfe, ..] => of_two(u16::from_le_bytes, 2),
        [0xfe, 0xff, ..] => of_two(u16::from_be_bytes, 2),
        [first, 0, second, 0, ..] if *first != 0 && *second != 0 => of_two(u16::from_le_bytes, 0),
        [0, first, 0, second, ..] if *first != 0 && *second != 0 => of_two(u16::from_be_bytes, 0),
        _ => bytes.iter().map(|byte| u16::from(*byte)).collect(),
    };
    let [feed, returned] = [b'\n', b'\r'].map(u16::from);
    let fed = text.strip_suffix(&[feed]).unwrap_or(&text).split(|unit| *unit == feed);
    let returns = |line: &[u16]| {
        let line = line.strip_suffix(&[returned]).unwrap_or(line);
        1 + line.iter().filter(|unit| **unit == returned).count() as u64
    };
    if text.is_empty() { 0 } else { fed.map(returns).sum() }
}

/// What holds of any bytes: nothing panics, each line is counted, and the report is the same however they came; it is JSON that
/// reads back as what it was, so that no figure in it is other than a number.
pub fn check(log: &[u8]) -> Result<(), String> {
    let report = report_of(log, usize::MAX);
    for (source, bytes) in report.sources.iter().zip(log.split(|byte| *byte == b'\x0c')) {
        let lines = lines_of(bytes);
        if source.lines != lines || source.lines_not_understood > lines || source.bytes != bytes.len() as u64
        {
            return Err(format!("{lines} lines, {} bytes, and {source:?}", bytes.len()));
        }
    }
    if report_of(log, 7) != report {
        return Err("it differs with the portions".to_owned());
    }
    let json = serde_json::to_string(&report).map_err(|e| e.to_string())?;
    let back: GcReport = serde_json::from_str(&json).map_err(|e| format!("{e}: {json}"))?;
    if back != report {
        return Err(format!("the report does not read back: {json}"));
    }
    Ok(())
}
