//! Chunks, and the events in them.

use crate::constants::Constants;
use crate::cursor::Cursor;
use crate::event::Event;
use crate::metadata::{Field, Types};
use crate::profile::{Numbers, Profile, RawEvent, RawSums};
use crate::value::{Value, Values};
use crate::{JfrError, Malformed};
use std::collections::HashMap;
use std::io::{BufReader, Read, Seek, SeekFrom};

const HEADER_BYTES: u64 = 68;
/// Longest event that is read: constants of a chunk may lie in one.
const EVENT_BYTES_MAX: u64 = 256 << 20;
const METADATA: u64 = 0;
const CONSTANTS: u64 = 1;
/// Most distinct stacks of a chunk whose events are kept separately.
const SUMS_MAX: usize = 2_000_000;
/// Problems that are listed.
const PROBLEMS_MAX: usize = 20;

/// What stands at the beginning of a chunk.
#[derive(Debug, Clone, Copy)]
struct Header {
    bytes: u64,
    metadata_at: u64,
    started_ns: u64,
    duration_ns: u64,
    is_compressed: bool,
}

impl Header {
    fn read(bytes: &[u8; HEADER_BYTES as usize]) -> Result<Header, JfrError> {
        if !bytes.starts_with(b"FLR\0") {
            return Err(JfrError::NotARecording);
        }
        let short = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        let (major, minor) = (short(4), short(6));
        if major != 2 {
            return Err(JfrError::Version { major, minor });
        }
        let long = |at: usize| bytes[at..at + 8].iter().fold(0, |long, byte| long << 8 | u64::from(*byte));
        Ok(Header {
            bytes: long(8),
            metadata_at: long(24),
            started_ns: long(32),
            duration_ns: long(40),
            is_compressed: bytes[67] & 1 != 0,
        })
    }
}

/// Reads a recording: a file, or bytes in memory (`std::io::Cursor`). A chunk that is damaged, or that its JVM did not finish, gives what
/// it has, and a problem.
///
/// # Errors
/// When it is not a recording, of another version, or cannot be read.
pub fn read(source: impl Read + Seek) -> Result<Profile, JfrError> {
    let mut source = BufReader::with_capacity(1 << 16, source);
    let end = source.seek(SeekFrom::End(0))?;
    let mut profile = Profile::default();
    let mut numbers = Numbers::default();
    let mut at = 0;
    while at < end {
        source.seek(SeekFrom::Start(at))?;
        let mut bytes = [0; HEADER_BYTES as usize];
        let header =
            match source.read_exact(&mut bytes).map_err(JfrError::Io).and_then(|()| Header::read(&bytes)) {
                Ok(header) => header,
                Err(JfrError::Io(error)) if error.kind() != std::io::ErrorKind::UnexpectedEof => {
                    return Err(error.into());
                }
                Err(JfrError::Io(_)) if at == 0 => return Err(JfrError::NotARecording),
                Err(error) if at == 0 => return Err(error),
                Err(error) => {
                    let chunks = profile.chunks;
                    note(&mut profile, format!("behind {chunks} chunks: {error}"));
                    break;
                }
            };
        let left = end - at;
        let is_whole = (HEADER_BYTES..=left).contains(&header.bytes);
        let bytes = if is_whole { header.bytes } else { left };
        if !is_whole {
            let number = profile.chunks + 1;
            note(&mut profile, format!("chunk {number} is not finished: what there is was read"));
        }
        let mut chunk =
            Chunk { source: &mut source, at: at + HEADER_BYTES, end: at + bytes, event: Vec::new() };
        if profile.chunks == 0 {
            profile.started_ns = header.started_ns;
        }
        profile.chunks += 1;
        profile.duration_ns = profile.duration_ns.saturating_add(header.duration_ns);
        chunk.add_to(&mut profile, &mut numbers, at, &header)?;
        at += bytes;
    }
    if profile.chunks == 0 {
        return Err(JfrError::NotARecording);
    }
    Ok(profile)
}

fn note(profile: &mut Profile, problem: String) {
    if profile.problems.len() < PROBLEMS_MAX && !profile.problems.contains(&problem) {
        profile.problems.push(problem);
    }
}

/// Events between two places of a file.
struct Chunk<'a, R> {
    source: &'a mut BufReader<R>,
    at: u64,
    end: u64,
    event: Vec<u8>,
}

/// Where an event goes on, and of which type it is.
struct Begun {
    type_id: u64,
    left: u64,
}

impl<R: Read + Seek> Chunk<'_, R> {
    fn add_to(
        &mut self,
        profile: &mut Profile,
        numbers: &mut Numbers,
        began: u64,
        header: &Header,
    ) -> Result<(), JfrError> {
        let number = profile.chunks;
        let mut noted = |what: &str, why: Malformed| {
            note(profile, format!("chunk {number}: {what}: {why}"));
        };
        if !header.is_compressed {
            noted("not read", Malformed::NotCompressed);
            return Ok(());
        }
        let types = match self.types(began, header.metadata_at)? {
            Ok(types) => types,
            Err(why) => {
                noted("not read", why);
                return Ok(());
            }
        };
        let mut constants = Constants::default();
        let mut sums = RawSums::new();
        let mut layouts = HashMap::new();
        let first = self.at;
        self.go_to(first)?;
        loop {
            let begun = match self.begin()? {
                Ok(Some(begun)) => begun,
                Ok(None) => break,
                Err(why) => {
                    noted("events are missing", why);
                    break;
                }
            };
            let event = types.of(begun.type_id).and_then(|of| Event::of_name(&of.name));
            if begun.type_id != CONSTANTS && event.is_none() {
                self.skip(begun.left)?;
                continue;
            }
            if !self.load(begun.left)? {
                noted("events are missing", Malformed::TooShort);
                break;
            }
            let read = match event {
                None => constants.read(Cursor::new(&self.event), &types).map_err(|why| ("constants", why)),
                Some(event) => {
                    let layout = layouts
                        .entry(begun.type_id)
                        .or_insert_with(|| Layout::of(event, begun.type_id, &types));
                    let read = layout.read(Cursor::new(&self.event), &types);
                    read.map(|(raw, bytes)| add(&mut sums, raw, bytes)).map_err(|why| (event.name(), why))
                }
            };
            if let Err((what, why)) = read {
                noted(what, why);
            }
        }
        if constants.is_cut {
            noted("constants beyond a limit are left out", Malformed::TooMany);
        }
        profile.add(&sums, &constants, numbers);
        Ok(())
    }

    /// The types: where the header says, or, in a chunk that is not finished, wherever they are.
    fn types(&mut self, began: u64, metadata_at: u64) -> Result<Result<Types, Malformed>, JfrError> {
        let events = self.at;
        let said = began.checked_add(metadata_at).filter(|at| (events..self.end).contains(at));
        let mut found = Err(Malformed::NoMetadata);
        if let Some(at) = said {
            self.go_to(at)?;
            found = self.types_here()?;
        }
        if found.is_err() {
            self.go_to(events)?;
            while let Ok(Some(begun)) = self.begin()? {
                if begun.type_id != METADATA {
                    self.skip(begun.left)?;
                } else if self.load(begun.left)? {
                    found = Types::read(Cursor::new(&self.event));
                } else {
                    break;
                }
            }
        }
        self.at = events;
        Ok(found)
    }

    fn types_here(&mut self) -> Result<Result<Types, Malformed>, JfrError> {
        Ok(match self.begin()? {
            Ok(Some(begun)) if begun.type_id == METADATA && self.load(begun.left)? => {
                Types::read(Cursor::new(&self.event))
            }
            _ => Err(Malformed::NoMetadata),
        })
    }

    fn go_to(&mut self, at: u64) -> Result<(), JfrError> {
        let by = at.wrapping_sub(self.source.stream_position()?).cast_signed();
        self.source.seek_relative(by)?;
        self.at = at;
        Ok(())
    }

    /// Size and type of the next event; `None` at the end.
    fn begin(&mut self) -> Result<Result<Option<Begun>, Malformed>, JfrError> {
        let room = self.end.saturating_sub(self.at);
        if room == 0 {
            return Ok(Ok(None));
        }
        let began = self.at;
        let (Some(bytes), Some(type_id)) = (self.number()?, self.number()?) else {
            return Ok(Err(Malformed::TooShort));
        };
        let used = self.at - began;
        if room < bytes || bytes < used || EVENT_BYTES_MAX < bytes {
            return Ok(Err(Malformed::Size));
        }
        Ok(Ok(Some(Begun { type_id, left: bytes - used })))
    }

    /// As of [`Cursor::number`]; `None` at the end.
    fn number(&mut self) -> Result<Option<u64>, JfrError> {
        let mut number = 0;
        for index in 0..9 {
            let mut byte = [0];
            if self.end <= self.at || self.source.read(&mut byte)? == 0 {
                return Ok(None);
            }
            self.at += 1;
            let byte = u64::from(byte[0]);
            if index == 8 {
                return Ok(Some(number | byte << 56));
            }
            number |= (byte & 0x7f) << (7 * index);
            if byte < 0x80 {
                break;
            }
        }
        Ok(Some(number))
    }

    fn skip(&mut self, bytes: u64) -> Result<(), JfrError> {
        self.source.seek_relative(bytes.cast_signed())?;
        self.at += bytes;
        Ok(())
    }

    /// Takes the rest of an event into memory; false where the file ends before it does.
    fn load(&mut self, bytes: u64) -> Result<bool, JfrError> {
        self.event.clear();
        let read = Read::by_ref(&mut *self.source).take(bytes).read_to_end(&mut self.event)?;
        self.at += read as u64;
        Ok(read as u64 == bytes)
    }
}

fn add(sums: &mut RawSums, raw: RawEvent, bytes: u64) {
    // An event that no longer fits is counted without its details.
    let raw = if sums.len() < SUMS_MAX || sums.contains_key(&raw) {
        raw
    } else {
        RawEvent { thread: 0, stack: 0, class: 0, ..raw }
    };
    let (events, of_all) = sums.entry(raw).or_default();
    *events += 1;
    *of_all = of_all.saturating_add(bytes);
}

/// Which fields of an event are wanted, by their places.
struct Layout {
    event: Event,
    fields: Vec<Field>,
    thread: Option<usize>,
    stack: Option<usize>,
    class: Option<usize>,
    weight: Option<usize>,
}

impl Layout {
    fn of(event: Event, type_id: u64, types: &Types) -> Layout {
        let at = |name: &str| types.position(type_id, name);
        Layout {
            event,
            fields: types.of(type_id).map(|of| of.fields.clone()).unwrap_or_default(),
            thread: at(event.thread_field()),
            stack: at("stackTrace"),
            class: at("objectClass"),
            weight: event.weight_field().and_then(at),
        }
    }

    fn read(&self, cursor: Cursor<'_>, types: &Types) -> Result<(RawEvent, u64), Malformed> {
        let mut values = Values::new(cursor, types);
        let mut raw = RawEvent { event: self.event, thread: 0, stack: 0, class: 0 };
        let mut bytes = 0;
        for (index, field) in self.fields.iter().enumerate() {
            let is = |of: Option<usize>| of == Some(index);
            match values.of_field(field)? {
                Value::Constant(number) if is(self.thread) => raw.thread = number,
                Value::Constant(number) if is(self.stack) => raw.stack = number,
                Value::Constant(number) if is(self.class) => raw.class = number,
                Value::Number(number) if is(self.weight) => bytes = number,
                _ => {}
            }
        }
        Ok((raw, bytes))
    }
}
