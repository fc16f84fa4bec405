//! Heap dumps in the HPROF format, read from front to back: what `jcmd PID GC.heap_dump` and
//! `-XX:+HeapDumpOnOutOfMemoryError` write (JDK 6 to 28), what older agents wrote, and Android's dialect 1.0.3.
//!
//! A dump is a header (`JAVA PROFILE 1.0.2`, bytes of an identifier, date) and records of a tag, a time and a length.
//! Names and classes have records of their own; objects are sub-records of heap records (0x0C, or any number of 0x1C and
//! a 0x2C). Only what a heap's size depends on is kept: names, classes, counts. The bytes of the objects are passed over,
//! so the memory that reading takes does not grow with the dump.
//!
//! Tolerant: damage is a problem of the class histogram, and reading goes on with the next record whose place is known. Only a
//! dump without a single readable object is an error.

mod classes;
mod cursor;
mod dump;
mod external_name;
mod fillers;
mod finish;
mod header;
mod names;
mod neighbours;
mod payload;
mod records;
mod shape;
mod sub_records;
mod tally;
mod version;

use crate::ClassHistogram;
use cursor::{Cursor, Supply};
use flate2::read::MultiGzDecoder;
use header::Header;
pub use header::HprofError;
use records::Again;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Reads a dump, plain or packed with gzip. `name` is what errors and problems call it; `progress` is called now and then
/// how many bytes of the source have been read.
///
/// # Errors
/// When it is not a dump, or nothing in it can be read.
pub fn read(
    source: impl Read + Send,
    name: &str,
    progress: &dyn Fn(u64),
) -> Result<ClassHistogram, HprofError> {
    with_cursor(source, name, progress, |cursor, header| records::read(cursor, header, name, None))
}

/// Reads the dump in a file, plain or packed with gzip: twice where it has arrays that may fill gaps between objects,
/// the second time only to go along the references.
///
/// # Errors
/// When the file cannot be opened, is not a dump, or nothing in it can be read.
pub fn read_file(path: &Path, progress: &dyn Fn(u64)) -> Result<ClassHistogram, HprofError> {
    let name = path.display().to_string();
    let open = || {
        let failed = |source| HprofError::Read { name: name.clone(), offset: 0, source };
        std::fs::File::open(path).map_err(failed)
    };
    let file = open()?;
    let again: Again<'_> = &|references| {
        with_cursor(open()?, &name, progress, |cursor, header| {
            Ok(records::follow(cursor, header, &name, references))
        })
    };
    let is_file = file.metadata().is_ok_and(|metadata| metadata.is_file());
    let again = is_file.then_some(again);
    with_cursor(file, &name, progress, |cursor, header| records::read(cursor, header, &name, again))
}

/// Calls `look` with the place behind the header of a dump.
fn with_cursor<T>(
    source: impl Read + Send,
    name: &str,
    progress: &dyn Fn(u64),
    look: impl FnOnce(Cursor<'_>, &Header) -> Result<T, HprofError>,
) -> Result<T, HprofError> {
    let count = AtomicU64::new(0);
    let mut source = CountingReader { source, count: &count };
    let failed = |offset, source| HprofError::Read { name: name.to_owned(), offset, source };
    let mut magic = Vec::with_capacity(2);
    (&mut source).take(2).read_to_end(&mut magic).map_err(|e| failed(0, e))?;
    let is_packed = magic == [0x1f, 0x8b];
    let source = io::Cursor::new(magic).chain(source);
    let mut source: Box<dyn Read + Send> = if is_packed {
        Box::new(MultiGzDecoder::new(io::BufReader::with_capacity(1 << 16, source)))
    } else {
        Box::new(source)
    };
    let header = Header::read(&mut source).map_err(|what| match what {
        Ok(error) => failed(count.load(Ordering::Relaxed), error),
        Err(what) => HprofError::NotHprof { name: name.to_owned(), what },
    })?;
    let told = || progress(count.load(Ordering::Relaxed));
    let supply = Supply::new();
    std::thread::scope(|scope| {
        let (buffers, cursor) = supply.split(header.bytes, &told);
        scope.spawn(move || buffers.fill_from(source));
        look(cursor, &header)
    })
}

/// Counts what is read from the source as it is given.
struct CountingReader<'a, R> {
    source: R,
    count: &'a AtomicU64,
}

impl<R: Read> Read for CountingReader<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(into)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}
