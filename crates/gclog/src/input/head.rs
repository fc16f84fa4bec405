//! The first lines of a file: whether it is a GC log, and when it begins.

use super::open::{Input, buffered, plain_bytes};
use super::set::Origin;
use crate::first::{self, First};
use crate::looking::Looking;
use assay_lines::Encoding;
use std::io::{self, Read};

/// Bytes of a file that are examined, unpacked.
const HEAD_BYTES: usize = 64 << 10;

/// What is known of a file by its first lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Head {
    /// Whether it has a collection, or what a JVM says at its start.
    pub is_log: bool,
    /// Its first instant.
    pub first: First,
}

/// Reads the first lines. A packed file that breaks off has those before the break.
pub(super) fn read(origin: &Origin) -> io::Result<Head> {
    of_reading(&mut |read| Input::open(origin)?.with_reader(read))
}

/// The same of a member of an archive.
pub(super) fn read_member(member: &mut dyn Read) -> io::Result<Head> {
    let mut member = buffered(member);
    of_reading(&mut |read| plain_bytes(&mut member, read))
}

type ReadBytes<'a> = &'a mut dyn FnMut(&mut dyn Read) -> io::Result<()>;

fn of_reading(with_reader: &mut dyn FnMut(ReadBytes<'_>) -> io::Result<()>) -> io::Result<Head> {
    let mut bytes = Vec::with_capacity(HEAD_BYTES);
    let read = with_reader(&mut |reader| {
        reader.take(HEAD_BYTES as u64).read_to_end(&mut bytes)?;
        Ok(())
    });
    if bytes.is_empty() {
        read?;
    }
    Ok(of_bytes(&bytes))
}

fn of_bytes(bytes: &[u8]) -> Head {
    let mut encoding = Encoding::default();
    let mut text = encoding.decoded(bytes).into_owned();
    text.extend(encoding.rest());
    of_text(&String::from_utf8_lossy(&text))
}

fn of_text(text: &str) -> Head {
    let mut looking = Looking::default();
    text.split(['\n', '\r']).for_each(|line| looking.look(line));
    let prefix = looking.prefix();
    let is_log = prefix.is_some();
    let prefix = prefix.unwrap_or_default();
    let found = text.split(['\n', '\r']).find_map(|line| {
        let stripped = prefix.strip(line);
        let first = first::of_line(&stripped.text);
        let first = First { unix_ns: first.unix_ns.or(stripped.unix_ns), ..first };
        (first != First::default()).then_some(first)
    });
    Head { is_log, first: found.unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_with_a_time_counts() {
        let head = of_text("no\n[2.5s][gc] x\n[1.0s][gc] y");
        assert_eq!((head.is_log, head.first.clock_ns), (true, Some(2_500_000_000)));
    }

    #[test]
    fn settings_and_other_logs_are_none() {
        for text in
            ["[info] x", "[2.5s] x", "[2018-09-10T16:06:49,468][INFO ] x", "Mode: x", "Using G1 pens", ""]
        {
            assert!(!of_text(text).is_log, "{text}");
        }
    }
}
