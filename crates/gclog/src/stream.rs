//! Bytes of logs in, records out, in memory that does not grow with the log.
//!
//! [`GcStream`] cuts bytes into lines and gives each to the dialect that the log is written in; the dialect reports to a [`GcSink`] what
//! it has understood. The same bytes give the same records, however they are cut.

use crate::contract::{At, Dialect, GcSink, ParseOutcome};
use crate::dating::Dating;
use crate::dialect::is_of_collector;
use crate::looking::Looking;
use assay_lines::{Encoding, Prefix};
use assay_model::{GcSource, Problem};
use std::borrow::Cow;
use std::io::{self, Read};

/// A longer line is not read: the longest that a JVM writes has a few hundred bytes, its flags a few thousand.
const LINE_BYTES_MAX: usize = 64 << 10;
/// Editors and transfers put it before text in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Where so much holds no line of a GC log, none is looked for any more: a device may have no end.
const UNKNOWN_BYTES_MAX: u64 = 64 << 20;

/// Reads logs as they come: begin a source, feed it bytes in any portions, end it; the next source goes on where it ended.
#[derive(Debug, Default)]
pub struct GcStream {
    encoding: Encoding,
    partial: Vec<u8>,
    is_overlong: bool,
    source: GcSource,
    sources: usize,
    /// Until the form of this source is known: its lines so far.
    looking: Option<(Looking, Vec<String>)>,
    /// What stands before each line of this source.
    prefix: Prefix,
    /// Pieces of a line that its collector has cut.
    pieces: String,
    dating: Dating,
    dialect: Option<Box<dyn Dialect>>,
    /// A line of this source is a collector's, or what a JVM says of it at its start: without one it is no GC log, whatever form it has.
    has_collector: bool,
    /// No rule accounts for the last line.
    is_last_unrecognized: bool,
}

impl GcStream {
    /// Begins a source. Its form is found anew; when it is that of the source before, reading goes on in the middle of whatever
    /// was open there, as it must in a rotated set.
    pub fn begin_source(&mut self, name: &str, sink: &mut dyn GcSink) {
        self.source = GcSource { name: name.to_owned(), ..GcSource::default() };
        self.looking = Some(Default::default());
        self.encoding = Encoding::default();
        self.has_collector = false;
        sink.begin_source(name);
    }

    /// The source is called otherwise by now: rotation has renamed it.
    pub fn rename_source(&mut self, name: &str) {
        name.clone_into(&mut self.source.name);
    }

    /// Takes the next bytes of the source.
    pub fn feed(&mut self, bytes: &[u8], sink: &mut dyn GcSink) {
        self.source.bytes += bytes.len() as u64;
        let mut encoding = std::mem::take(&mut self.encoding);
        self.feed_text(&encoding.decoded(bytes), sink);
        self.encoding = encoding;
    }

    fn feed_text(&mut self, mut bytes: &[u8], sink: &mut dyn GcSink) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at(end);
            bytes = &rest[1..];
            if self.partial.is_empty() && !self.is_overlong && line.len() <= LINE_BYTES_MAX {
                self.take_line(line, sink);
            } else {
                self.keep(line, sink);
                self.take_kept(sink);
            }
        }
        self.keep(bytes, sink);
    }

    /// Takes what a reader has, up to its end; how many bytes that was.
    ///
    /// # Errors
    /// Those of reading; the bytes before have been taken. Much that holds no line of a GC log is one, too.
    pub fn feed_from(
        &mut self,
        from: &mut dyn Read,
        buffer: &mut [u8],
        sink: &mut dyn GcSink,
    ) -> io::Result<u64> {
        let mut taken = 0;
        loop {
            match from.read(buffer) {
                Ok(0) => return Ok(taken),
                Ok(bytes) => {
                    self.feed(&buffer[..bytes], sink);
                    taken += bytes as u64;
                    if self.dialect.is_none() && UNKNOWN_BYTES_MAX < self.source.bytes {
                        return Err(io::Error::other("its first 64 MiB hold no line of a GC log"));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Ends the source: bytes after the last end of line count as a line.
    pub fn end_source(&mut self, sink: &mut dyn GcSink) {
        let rest = self.encoding.rest();
        self.feed_text(&rest, sink);
        let has_no_end = !self.partial.is_empty() || self.is_overlong;
        let is_overlong = self.is_overlong;
        if has_no_end {
            self.take_kept(sink);
        }
        self.decide(sink);
        if !self.pieces.is_empty() {
            let text = std::mem::take(&mut self.pieces);
            self.take_collected(&text, None, self.source.lines, sink);
        }
        // Where nothing but the last end of line lacks, the line is whole.
        self.source.is_torn = has_no_end && (is_overlong || self.is_last_unrecognized);
        if !self.has_collector {
            self.source.dialect = None;
        }
        if let Some(dialect) = &mut self.dialect {
            self.source.messages_dropped = dialect.take_messages_dropped();
        }
        sink.end_source(&self.source);
        self.sources += 1;
    }

    /// Tells what is known of the JVM by now: for a log that is followed, of which a report is made before its end.
    pub fn tell_jvm(&mut self, sink: &mut dyn GcSink) {
        if let Some(dialect) = &mut self.dialect {
            dialect.tell_jvm(&mut self.dating.sink(sink));
        }
    }

    /// Tells what is open although it may still become finer: for a log that is followed.
    pub fn flush(&mut self, sink: &mut dyn GcSink) {
        // A short log that is followed is taken to be what its few lines look like.
        if self.looking.as_ref().is_some_and(|(looking, _)| looking.has_found()) {
            self.decide(sink);
        }
        if let Some(dialect) = &mut self.dialect {
            dialect.flush(&mut self.dating.sink(sink));
        }
    }

    /// Ends reading after the last source.
    pub fn finish(mut self, sink: &mut dyn GcSink) {
        if let Some(dialect) = &mut self.dialect {
            dialect.finish(&mut self.dating.sink(sink));
        }
    }

    fn keep(&mut self, bytes: &[u8], sink: &mut dyn GcSink) {
        for piece in bytes.chunks(LINE_BYTES_MAX / 2) {
            // Of a log whose lines end with a carriage return alone, those that are whole.
            if LINE_BYTES_MAX < self.partial.len() + piece.len()
                && let Some(end) = memchr::memrchr(b'\r', &self.partial)
            {
                let rest = self.partial.split_off(end + 1);
                let whole = std::mem::replace(&mut self.partial, rest);
                self.take_line(&whole, sink);
            }
            if self.is_overlong || self.partial.len() + piece.len() > LINE_BYTES_MAX {
                self.is_overlong = true;
                self.partial.clear();
            } else {
                self.partial.extend_from_slice(piece);
            }
        }
    }

    fn take_kept(&mut self, sink: &mut dyn GcSink) {
        let line = std::mem::take(&mut self.partial);
        if std::mem::take(&mut self.is_overlong) {
            self.source.lines += 1;
            self.source.lines_not_understood += 1;
            let what = format!("line of more than {LINE_BYTES_MAX} bytes");
            sink.problem(Problem::at_line(self.source.name.clone(), self.source.lines, what));
        } else {
            self.take_line(&line, sink);
        }
        self.partial = line;
        self.partial.clear();
    }

    /// A line, or several that end with a carriage return alone.
    fn take_line(&mut self, bytes: &[u8], sink: &mut dyn GcSink) {
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        if memchr::memchr(b'\r', bytes).is_some() {
            bytes.split(|byte| *byte == b'\r').for_each(|line| self.take_one(line, sink));
        } else {
            self.take_one(bytes, sink);
        }
    }

    fn take_one(&mut self, bytes: &[u8], sink: &mut dyn GcSink) {
        self.source.lines += 1;
        let marked = if self.source.lines == 1 { bytes.strip_prefix(BYTE_ORDER_MARK) } else { None };
        let bytes = marked.unwrap_or(bytes);
        // Nearly always it is UTF-8, which is quicker to see than to mend.
        let text = std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
        if let Some((looking, lines)) = &mut self.looking {
            looking.look(&text);
            lines.push(text.into_owned());
            if looking.is_sure() {
                self.decide(sink);
            }
            return;
        }
        self.take_line_of_form(&text, self.source.lines, sink);
    }

    /// Settles prefix and dialect, and gives it the lines that waited for that.
    fn decide(&mut self, sink: &mut dyn GcSink) {
        let Some((looking, lines)) = self.looking.take() else { return };
        let (prefix, found) = looking.decide(&lines);
        if let Some(new) = found {
            self.prefix = prefix;
            self.source.dialect = Some(new.name().to_owned());
            let is_same = self.dialect.as_ref().is_some_and(|old| old.name() == new.name());
            if !is_same && let Some(mut old) = self.dialect.replace(new) {
                old.finish(&mut self.dating.sink(sink));
            }
        }
        if self.source.dialect.is_none() && self.dialect.is_none() {
            // A server's own output may stand before its first collection.
            self.looking = Some(Default::default());
        }
        let first = self.source.lines + 1 - lines.len() as u64;
        for (line, text) in (first..).zip(lines) {
            self.take_line_of_form(&text, line, sink);
        }
    }

    /// A line with its prefix.
    fn take_line_of_form(&mut self, text: &str, line: u64, sink: &mut dyn GcSink) {
        if self.prefix.is_empty() {
            self.take_text(text, line, sink);
            return;
        }
        let prefix = std::mem::take(&mut self.prefix);
        let stripped = prefix.strip(text);
        let mut text = stripped.text;
        if stripped.goes_on || !self.pieces.is_empty() {
            if self.pieces.len() + text.len() <= LINE_BYTES_MAX {
                self.pieces.push_str(&text);
            }
            text =
                Cow::Owned(if stripped.goes_on { String::new() } else { std::mem::take(&mut self.pieces) });
        }
        if !stripped.goes_on {
            self.take_collected(&text, stripped.unix_ns, line, sink);
        }
        self.prefix = prefix;
    }

    /// What a collector took as one, which may be several lines.
    fn take_collected(&mut self, text: &str, unix_ns: Option<i64>, line: u64, sink: &mut dyn GcSink) {
        let mut dating = std::mem::take(&mut self.dating);
        dating.line(text, unix_ns);
        let not_understood = self.source.lines_not_understood;
        for text in text.split('\n') {
            self.take_text(text.trim_end_matches('\r'), line, &mut dating.sink(sink));
        }
        // It is counted as the one line that it is.
        self.source.lines_not_understood = self.source.lines_not_understood.min(not_understood + 1);
        self.dating = dating;
    }

    /// A line as its program wrote it.
    fn take_text(&mut self, text: &str, line: u64, sink: &mut dyn GcSink) {
        let at = At { source: self.sources, line };
        self.has_collector = self.has_collector || is_of_collector(text);
        // Text of no dialect, after a source of one, may be the rest of a torn line.
        let taken =
            self.dialect.as_mut().map_or(ParseOutcome::Unrecognized, |dialect| dialect.take(text, at, sink));
        self.is_last_unrecognized = taken == ParseOutcome::Unrecognized && !text.trim().is_empty();
        if self.is_last_unrecognized {
            self.source.lines_not_understood += 1;
            sink.unrecognized(at, text);
        }
    }
}
