//! A log that is still written: what is appended, and what comes when it is rotated, truncated or begun anew.

use super::order::rotation;
use super::set::{BUFFER_BYTES, InputError, folder_of};
use crate::contract::GcSink;
use crate::stream::GcStream;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What a look at the log brought.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Polled {
    /// Bytes that were appended since the last look.
    pub bytes: u64,
    /// Another file took the place of the one before, or it was emptied.
    pub is_new_file: bool,
    /// Everything was read that was there.
    pub is_at_end: bool,
    /// Nothing has the log's name for the moment.
    pub is_gone: bool,
}

/// How much of a log is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadLimits {
    /// Of a log that is longer when following begins, only the last `bytes_at_once` are read.
    pub whole_bytes_max: u64,
    /// At most at one poll.
    pub bytes_at_once: u64,
}

/// All of it, as soon as it is there.
const WHOLE: ReadLimits = ReadLimits { whole_bytes_max: u64::MAX, bytes_at_once: u64::MAX };

/// Follows a log by its name.
#[derive(Debug)]
pub struct Follower {
    /// As it was named.
    path: PathBuf,
    /// Name of the source.
    name: String,
    file: File,
    identity: (u64, u64),
    position: u64,
    bytes_at_once: u64,
    stream: GcStream,
    buffer: Vec<u8>,
}

impl Follower {
    /// Begins at the log's first byte: a followed log is read whole, as any other.
    ///
    /// # Errors
    /// The log cannot be opened, or is not a regular file.
    pub fn open(path: &Path, sink: &mut dyn GcSink) -> Result<Self, InputError> {
        Follower::open_part(path, WHOLE, sink)
    }

    /// Begins where `part` says: for those who must not be held up by a long log.
    ///
    /// # Errors
    /// The log cannot be opened, or is not a regular file.
    pub fn open_part(path: &Path, part: ReadLimits, sink: &mut dyn GcSink) -> Result<Self, InputError> {
        let failed = |source| InputError::Open { path: path.display().to_string(), source };
        let active = active(path);
        // Before it is opened: opening a pipe waits until someone writes into it.
        if !fs::metadata(&active).map_err(failed)?.is_file() {
            return Err(InputError::NoFileToFollow { path: path.display().to_string() });
        }
        let mut file = File::open(&active).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        let begin = metadata.len().saturating_sub(part.bytes_at_once);
        let position = if part.whole_bytes_max < metadata.len() { begin } else { 0 };
        file.seek(SeekFrom::Start(position)).map_err(failed)?;
        let mut stream = GcStream::default();
        let name = active.display().to_string();
        stream.begin_source(&name, sink);
        let identity = (metadata.dev(), metadata.ino());
        Ok(Follower {
            path: path.to_owned(),
            name,
            file,
            identity,
            position,
            bytes_at_once: part.bytes_at_once,
            stream,
            buffer: vec![0; BUFFER_BYTES],
        })
    }

    /// Reads what is there by now, and reports what is known of the JVM.
    ///
    /// # Errors
    /// Those of reading. A log that is gone for the moment is none.
    pub fn poll(&mut self, sink: &mut dyn GcSink) -> io::Result<Polled> {
        let polled = self.read_all(sink)?;
        if polled.bytes > 0 || polled.is_new_file {
            self.stream.tell_jvm(sink);
        }
        Ok(polled)
    }

    fn read_all(&mut self, sink: &mut dyn GcSink) -> io::Result<Polled> {
        let mut polled = Polled { bytes: self.read_on(sink)?, is_at_end: true, ..Polled::default() };
        let size = self.file.metadata()?.len();
        if self.position < size && self.bytes_at_once <= polled.bytes {
            polled.is_at_end = false;
            return Ok(polled);
        }
        if size < self.position {
            // Emptied in place, as logrotate's copytruncate does.
            self.file.seek(SeekFrom::Start(0))?;
            let before = format!("{} (before it was emptied)", self.name);
            self.begin_anew(&before, &active(&self.path), sink);
            polled.is_new_file = true;
            polled.bytes += self.read_on(sink)?;
        }
        let active = active(&self.path);
        let Ok(metadata) = fs::metadata(&active) else {
            polled.is_gone = true;
            return Ok(polled);
        };
        if (metadata.dev(), metadata.ino()) != self.identity && metadata.is_file() {
            // What was written between the last read and the renaming.
            polled.bytes += self.read_on(sink)?;
            let Ok(file) = File::open(&active) else { return Ok(polled) };
            let opened = file.metadata()?;
            let before = self.name_by_now();
            self.file = file;
            self.identity = (opened.dev(), opened.ino());
            self.begin_anew(&before, &active, sink);
            polled.is_new_file = true;
            polled.bytes += self.read_on(sink)?;
        }
        Ok(polled)
    }

    /// Tells what is open, when nothing has come for a while.
    pub fn flush(&mut self, sink: &mut dyn GcSink) {
        self.stream.flush(sink);
    }

    /// Ends following.
    pub fn finish(mut self, sink: &mut dyn GcSink) {
        self.stream.end_source(sink);
        self.stream.finish(sink);
    }

    /// Name of the open file after rotation.
    fn name_by_now(&self) -> String {
        let entries = fs::read_dir(folder_of(&self.path)).into_iter().flatten().flatten();
        let is_it = |of: &fs::DirEntry| of.metadata().is_ok_and(|m| (m.dev(), m.ino()) == self.identity);
        entries
            .map(|entry| (is_it(&entry), entry.path()))
            .find_map(|(is_it, path)| is_it.then(|| path.display().to_string()))
            .unwrap_or_else(|| format!("{} (before rotation)", self.name))
    }

    /// Ends the source, which is called `before` by now, and begins another.
    fn begin_anew(&mut self, before: &str, path: &Path, sink: &mut dyn GcSink) {
        self.stream.rename_source(before);
        self.stream.end_source(sink);
        self.name = path.display().to_string();
        self.stream.begin_source(&self.name, sink);
        self.position = 0;
    }

    fn read_on(&mut self, sink: &mut dyn GcSink) -> io::Result<u64> {
        let mut part = (&self.file).take(self.bytes_at_once);
        let bytes = self.stream.feed_from(&mut part, &mut self.buffer, sink)?;
        self.position += bytes;
        Ok(bytes)
    }
}

/// The file that is written to: the one that was named, or JDK 8's `NAME.3.current` for any of the set.
fn active(path: &Path) -> PathBuf {
    let Some(name) = path.file_name().map(|n| n.to_string_lossy()) else { return path.to_owned() };
    let named = rotation(&name);
    if path.exists() && (named.is_current || named.number.is_none()) {
        return path.to_owned();
    }
    let folder = folder_of(path);
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.file_name());
    let mut current: Vec<PathBuf> = entries
        .filter(|n| {
            let of = rotation(&n.to_string_lossy());
            of.is_current && of.base == named.base
        })
        .map(|n| folder.join(n))
        .collect();
    current.sort();
    current.pop().unwrap_or_else(|| path.to_owned())
}
