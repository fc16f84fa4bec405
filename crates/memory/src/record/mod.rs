//! A file of snapshots of a process over time: what `assay memory PID --record FILE` writes.
//!
//! Lines of JSON. The first says what the file is (`{"schema":"assay.memory-record/4"}`), each further one is a
//! [`MemoryReport`] that names its own form, since a later version may add to a record. Where the process ended while it was recorded,
//! the last line says how (`{"end":{...}}`). The file is bounded: when it is full it is written anew with about half of its snapshots, the first and
//! the last among them and the others evenly spread over the time in between, so a record of a week still shows the
//! whole week. The new file takes the old one's place in one step; a reader sees the one or the other.
//!
//! It is made for its owner only (mode 0600): names of threads, classes and files say a lot about a server.

mod error;

pub use error::RecordError;

use crate::explain::explain_change;
use crate::findings::host::KILLED;
use crate::findings::{findings, words::bytes};
use crate::process::Process;
use assay_model::{MemoryEnd, MemoryReport, Problem, schema};
use assay_text::file::NewFile;
use rustix::fs::{FlockOperation, OFlags};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Largest file that is read or written. Read whole, snapshots take a few times their size in the file.
const RECORD_BYTES_MAX: u64 = 256 << 20;
/// Longest line that is read: a snapshot with all its bounded lists stays far below.
const LINE_BYTES_MAX: u64 = 32 << 20;
/// Causes of growth that are named where the process was killed.
const GREW_NAMED: usize = 3;
/// Problems that are listed; a file of nothing but bad lines has no more to say.
const PROBLEMS_LISTED_MAX: usize = 100;

#[derive(Serialize, Deserialize)]
struct Header {
    schema: String,
}

/// The last line, where the process ended while it was recorded.
#[derive(Serialize, Deserialize)]
struct EndLine {
    end: MemoryEnd,
}

/// Of a snapshot: what is needed to choose between snapshots.
#[derive(Deserialize)]
struct When {
    monotonic_ns: u64,
}

/// Where a snapshot lies in the file.
#[derive(Debug, Clone, Copy)]
struct Line {
    start: u64,
    /// With its line end.
    bytes: u64,
    monotonic_ns: u64,
}

/// A record that is being written. No other program can write into it meanwhile.
#[derive(Debug)]
pub struct Record {
    path: PathBuf,
    file: File,
    bytes_max: u64,
    lines: Vec<Line>,
    end: u64,
    /// Of the newest snapshot.
    process: Option<Process>,
    /// Whether the file was made here.
    is_new: bool,
    has_thinned: bool,
}

impl Record {
    /// Creates the file, or goes on with the record that it holds; a torn last line is cut off. The file grows to at
    /// most `bytes_max` bytes, and never beyond 256 MiB. A file made here is removed again when no snapshot came into it.
    ///
    /// # Errors
    /// When the file holds anything else, is not a regular file, is in use, or cannot be written.
    pub fn create(path: &Path, bytes_max: u64) -> Result<Record, RecordError> {
        let io = |what, source| RecordError::Io { what, path: path.to_owned(), source };
        let mut options = OpenOptions::new();
        options.read(true).write(true).mode(0o600);
        let (file, is_new) = match open(path, options.clone().create_new(true)) {
            Err(RecordError::Io { source, .. }) if source.kind() == io::ErrorKind::AlreadyExists => {
                (open(path, options.create(true))?, false)
            }
            made => (made?, true),
        };
        // Not the name but what it stands for is replaced later: a link stays one.
        let path = path.canonicalize().map_err(|e| io("find", e))?;
        let bytes_max = bytes_max.min(RECORD_BYTES_MAX);
        let lines = Vec::new();
        let mut record =
            Record { path, file, bytes_max, lines, end: 0, process: None, is_new: false, has_thinned: false };
        record.lock(&record.file)?;
        record.check_place()?;
        // From here on it is ours: nobody else can have written into it.
        record.is_new = is_new;
        record.scan()?;
        record.file.set_permissions(Permissions::from_mode(0o600)).map_err(|e| record.io("protect", e))?;
        Ok(record)
    }

    /// Adds a snapshot. Where it does not fit any more, older snapshots make room; a failed write entries the record as it was.
    ///
    /// # Errors
    /// When it is of another process than the snapshots before it, cannot be written, or the limit does not allow for two
    /// snapshots.
    pub fn append(&mut self, report: &MemoryReport) -> Result<(), RecordError> {
        let process = Process::of(report);
        if let Some(recorded) = self.process.as_ref().filter(|recorded| process.differs_from(recorded)) {
            let is_anew = process.has_name_of(recorded);
            return Err(RecordError::OtherProcess {
                path: self.path.clone(),
                recorded: recorded.to_string(),
                what: if is_anew { "one started later".to_owned() } else { process.to_string() },
            });
        }
        let (start, bytes) = self.write_line(report)?;
        self.lines.push(Line { start, bytes, monotonic_ns: report.monotonic_ns });
        self.process = Some(process);
        Ok(())
    }

    /// Adds how the process ended, behind its last snapshot.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn append_end(&mut self, end: &MemoryEnd) -> Result<(), RecordError> {
        self.write_line(&EndLine { end: end.clone() }).map(drop)
    }

    /// Writes a line behind the others; where it begins, and its bytes with the line end.
    fn write_line(&mut self, content: &impl Serialize) -> Result<(u64, u64), RecordError> {
        let mut line = serde_json::to_vec(content).map_err(|e| self.io("write", e.into()))?;
        line.push(b'\n');
        let bytes = line.len() as u64;
        if self.bytes_max < self.end.saturating_add(bytes) {
            let kept = self.thinned(bytes)?;
            self.rewrite(&kept)?;
        }
        let start = self.end;
        if let Err(e) = self.file.write_all(&line) {
            // The disk is full: half a line would spoil the next one.
            let _ = self.file.set_len(start).and_then(|()| self.file.seek(SeekFrom::Start(start)));
            return Err(self.io("write", e));
        }
        self.end = start + bytes;
        Ok((start, bytes))
    }

    /// Snapshots in the file, those of earlier recordings among them.
    pub fn snapshots(&self) -> usize {
        self.lines.len()
    }

    /// Whether snapshots were left out since it was opened, to keep to the limit.
    pub fn has_thinned(&self) -> bool {
        self.has_thinned
    }

    /// Size of the file.
    pub fn bytes(&self) -> u64 {
        self.end
    }

    fn io(&self, what: &'static str, source: io::Error) -> RecordError {
        RecordError::Io { what, path: self.path.clone(), source }
    }

    fn lock(&self, file: &File) -> Result<(), RecordError> {
        match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(()),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(RecordError::InUse { path: self.path.clone() }),
            Err(e) => Err(self.io("lock", e.into())),
        }
    }

    /// Another program may have put a new file in the place of the one that was opened, just before the lock.
    fn check_place(&self) -> Result<(), RecordError> {
        let mine = self.file.metadata().map_err(|e| self.io("stat", e))?;
        let there = self.path.metadata().map_err(|e| self.io("stat", e))?;
        let is_same = (mine.dev(), mine.ino()) == (there.dev(), there.ino());
        if is_same { Ok(()) } else { Err(RecordError::InUse { path: self.path.clone() }) }
    }

    /// Finds the snapshots that are there, and where to go on.
    fn scan(&mut self) -> Result<(), RecordError> {
        if self.file.metadata().map_err(|e| self.io("stat", e))?.len() == 0 {
            return self.write_header();
        }
        let mut reader = BufReader::new(&self.file);
        let (path, mut end, mut lines, mut newest) = (self.path.clone(), 0, Vec::new(), Vec::new());
        let header_bytes = each_line(&mut reader, &path, |line| {
            if let Content::Whole(text) = line.content {
                end = line.start + line.bytes;
                if let Ok(When { monotonic_ns }) = serde_json::from_slice(text) {
                    lines.push(Line { start: line.start, bytes: line.bytes, monotonic_ns });
                    newest.clear();
                    newest.extend_from_slice(text);
                }
            } else if let Content::TooLong = line.content {
                end = line.start + line.bytes;
            }
        })?;
        (self.end, self.lines) = (end.max(header_bytes), lines);
        self.process = serde_json::from_slice(&newest).ok();
        // A torn line follows.
        self.file.set_len(self.end).map_err(|e| self.io("mend", e))?;
        self.file.seek(SeekFrom::Start(self.end)).map_err(|e| self.io("mend", e))?;
        Ok(())
    }

    fn write_header(&mut self) -> Result<(), RecordError> {
        let header = header();
        self.file.write_all(&header).map_err(|e| self.io("write", e))?;
        self.end = header.len() as u64;
        Ok(())
    }

    /// The snapshots that stay when `bytes` more have to fit.
    fn thinned(&self, bytes: u64) -> Result<Vec<Line>, RecordError> {
        let size = |lines: &[Line]| {
            lines.iter().fold(header().len() as u64 + bytes, |sum, line| sum.saturating_add(line.bytes))
        };
        let too_small = |needed_bytes| RecordError::TooSmall {
            path: self.path.clone(),
            needed_bytes,
            bytes_max: self.bytes_max,
        };
        let mut kept = self.lines.clone();
        // At least once, and then until it fits: snapshots differ in size.
        loop {
            kept = match kept.len() {
                0 => {
                    // The next one will be about as large.
                    return Err(too_small(size(&kept).saturating_add(bytes)));
                }
                1 if self.bytes_max < size(&kept) => return Err(too_small(size(&kept))),
                1 => return Ok(kept),
                // The new snapshot is the last one now.
                2 => vec![kept[0]],
                _ => every_second(&kept),
            };
            if size(&kept) <= self.bytes_max {
                return Ok(kept);
            }
        }
    }

    /// Writes the file anew with these snapshots only, and puts it in the place of the old one.
    fn rewrite(&mut self, kept: &[Line]) -> Result<(), RecordError> {
        let mut new = NewFile::begin(&self.path).map_err(|e| self.io("write anew", e))?;
        self.lock(new.file())?;
        let failed = |e| RecordError::Io { what: "write anew", path: self.path.clone(), source: e };
        new.file().write_all(&header()).map_err(failed)?;
        let mut lines = Vec::with_capacity(kept.len());
        let mut start = header().len() as u64;
        let mut old = &self.file;
        for line in kept {
            old.seek(SeekFrom::Start(line.start)).map_err(failed)?;
            let copied = io::copy(&mut old.take(line.bytes), new.file()).map_err(failed)?;
            if copied != line.bytes {
                return Err(failed(io::ErrorKind::UnexpectedEof.into()));
            }
            lines.push(Line { start, ..*line });
            start += line.bytes;
        }
        self.file = new.finish().map_err(failed)?;
        (self.lines, self.end, self.has_thinned) = (lines, start, true);
        Ok(())
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        // Still locked: nobody else has begun to write into it.
        if self.is_new && self.lines.is_empty() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// About half of three or more snapshots: the first, the last, and between them one in each of equal intervals. Snapshots
/// that a reboot put out of order are halved by their number.
fn every_second(lines: &[Line]) -> Vec<Line> {
    let last = lines.len() - 1;
    let span_ns = lines[last].monotonic_ns.saturating_sub(lines[0].monotonic_ns);
    // Snapshots come a little early or late: a gap of two less a quarter keeps every second one all the same.
    let gap_ns = (u128::from(span_ns) * 7 / (last as u128 * 4)) as u64;
    let is_ordered = lines.windows(2).all(|pair| pair[0].monotonic_ns < pair[1].monotonic_ns);
    let mut kept = vec![lines[0]];
    for (i, line) in lines.iter().enumerate().skip(1).take(last - 1) {
        let is_due = match kept.last() {
            Some(before) if is_ordered => gap_ns <= line.monotonic_ns - before.monotonic_ns,
            _ => i % 2 == 0,
        };
        // Never more than half, whatever the times are.
        if is_due && kept.len() <= last / 2 {
            kept.push(*line);
        }
    }
    kept.push(lines[last]);
    if kept.len() == lines.len() {
        kept.remove(1);
    }
    kept
}

fn header() -> Vec<u8> {
    let mut header = format!("{{\"schema\":\"{}\"}}", schema::MEMORY_RECORD).into_bytes();
    header.push(b'\n');
    header
}

/// Reads a record: the snapshots in their order, and what could not be understood. A record that is being written can be read. Where it says
/// how the process ended, the last snapshot has that, and the finding of it.
///
/// # Errors
/// When the file cannot be read, is not a record, or is larger than any record.
pub fn read_record(path: &Path) -> Result<(Vec<MemoryReport>, Vec<Problem>), RecordError> {
    let file = open(path, OpenOptions::new().read(true))?;
    let name = path.display().to_string();
    let (mut snapshots, mut problems, mut unlisted) = (Vec::new(), Vec::new(), 0u64);
    each_line(&mut BufReader::new(&file), path, |line| {
        let what = match line.content {
            Content::Whole(text) => match serde_json::from_slice::<MemoryReport>(text) {
                Ok(snapshot) => match schema::check(&snapshot.schema, schema::MEMORY) {
                    Ok(()) => return snapshots.push(snapshot),
                    Err(why) => format!("not a snapshot that can be read: {why}"),
                },
                Err(e) => match serde_json::from_slice(text) {
                    Ok(EndLine { end }) => return add_end(&mut snapshots, end),
                    Err(_) => format!("not a snapshot: {e}"),
                },
            },
            Content::TooLong => format!("longer than {LINE_BYTES_MAX} bytes: not a snapshot"),
            Content::Torn => "torn: the program was ended while it wrote this snapshot".to_owned(),
        };
        if problems.len() < PROBLEMS_LISTED_MAX {
            problems.push(Problem::at_line(name.as_str(), line.number, what));
        } else {
            unlisted += 1;
        }
    })?;
    if unlisted != 0 {
        problems.push(Problem::new(name.as_str(), format!("{unlisted} more lines that are not snapshots")));
    }
    Ok((snapshots, problems))
}

/// The end with its finding, and what grew until then: a kill says nothing of that.
fn add_end(snapshots: &mut [MemoryReport], end: MemoryEnd) {
    let Some((last, before)) = snapshots.split_last_mut() else { return };
    last.end = Some(end);
    last.findings = findings(last);
    let grew = match before.first() {
        Some(first) => explain_change(first, last).causes,
        None => Vec::new(),
    };
    let grew = grew.iter().filter(|cause| 0 < cause.change_bytes()).take(GREW_NAMED);
    let grew: Vec<String> = grew
        .map(|of| format!("{} +{}", of.path.join(": "), bytes(of.change_bytes().unsigned_abs())))
        .collect();
    let said = match (before.len(), grew.as_slice()) {
        (0, _) => "one snapshot before the end shows no growth".to_owned(),
        (_, []) => "nothing grew between the first snapshot and the last".to_owned(),
        _ => format!("grew most: {}", grew.join(", ")),
    };
    let killed = last.findings.iter_mut().filter(|found| found.rule == KILLED);
    killed.for_each(|found| found.evidence.push(said.clone()));
}

/// Opens a regular file; a pipe or a device is refused without waiting for it.
fn open(path: &Path, options: &mut OpenOptions) -> Result<File, RecordError> {
    let io = |source| RecordError::Io { what: "open", path: path.to_owned(), source };
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = options.custom_flags(flags).open(path).map_err(io)?;
    let about = file.metadata().map_err(io)?;
    if !about.is_file() {
        return Err(RecordError::Foreign { path: path.to_owned(), why: "it is not a regular file" });
    }
    if RECORD_BYTES_MAX < about.len() {
        return Err(RecordError::TooLarge { path: path.to_owned(), bytes_max: RECORD_BYTES_MAX });
    }
    Ok(file)
}

/// A line behind the header.
struct FoundLine<'a> {
    /// Counted from 1, the header's.
    number: u64,
    start: u64,
    bytes: u64,
    content: Content<'a>,
}

enum Content<'a> {
    Whole(&'a [u8]),
    TooLong,
    /// Without a line end.
    Torn,
}

/// Checks the header and hands out the lines behind it, one at a time. Gives the bytes of the header's line.
fn each_line<R: BufRead>(
    reader: &mut R,
    path: &Path,
    mut on_line: impl FnMut(FoundLine<'_>),
) -> Result<u64, RecordError> {
    let io = |source| RecordError::Io { what: "read", path: path.to_owned(), source };
    let mut line = Vec::new();
    let foreign = |why| RecordError::Foreign { path: path.to_owned(), why };
    // A header has 30 bytes: a file of one endless line is recognised after 256.
    reader.by_ref().take(256).read_until(b'\n', &mut line).map_err(io)?;
    let header: Option<Header> = serde_json::from_slice(&line).ok();
    let is_record = |h: &Header| schema::is_of(&h.schema, schema::MEMORY_RECORD) && line.ends_with(b"\n");
    let Some(header) = header.filter(is_record) else {
        return Err(foreign("its first line does not say that it is one"));
    };
    schema::check(&header.schema, schema::MEMORY_RECORD)
        .map_err(|why| RecordError::Unreadable { path: path.to_owned(), why })?;
    let header_bytes = line.len() as u64;
    let (mut number, mut start) = (1, header_bytes);
    while start <= RECORD_BYTES_MAX {
        line.clear();
        let mut bytes = reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line).map_err(io)? as u64;
        if bytes == 0 {
            break;
        }
        number += 1;
        let content = if line.ends_with(b"\n") {
            Content::Whole(&line)
        } else if bytes < LINE_BYTES_MAX {
            Content::Torn
        } else {
            bytes += skip_line(reader).map_err(io)?;
            Content::TooLong
        };
        on_line(FoundLine { number, start, bytes, content });
        start = start.saturating_add(bytes);
    }
    Ok(header_bytes)
}

/// Passes over the rest of a line; gives its bytes.
fn skip_line<R: BufRead>(reader: &mut R) -> io::Result<u64> {
    let mut skipped = 0;
    while skipped <= RECORD_BYTES_MAX {
        let buffer = reader.fill_buf()?;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let bytes = end.map_or(buffer.len(), |end| end + 1);
        reader.consume(bytes);
        skipped += bytes as u64;
        if end.is_some() || bytes == 0 {
            break;
        }
    }
    Ok(skipped)
}
