//! Text of `pmap -X PID` and `pmap -XX PID` (procps): `smaps` as a table. Format: `pmap(1)`.
//!
//! The first line has the PID and the command line, which may hold secrets and is not kept. The second names the columns: address,
//! permissions, offset, device, inode, then the kernel's keys of `smaps`, in KiB, and last the mapping. All but the keys are in the
//! language of whoever ran it. Columns end, by bytes, below their names. A line of sums ends the table.

use crate::fields::{At, lines};
use crate::smaps::MAPPINGS_MAX;
use crate::{Mapping, ParseError};
use std::path::Path;

/// A table of one process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PmapTable {
    /// The process, in the namespace of whoever ran `pmap`.
    pub pid: u32,
    /// Its mappings in the order of their addresses.
    pub mappings: Vec<Mapping>,
    /// Resident bytes by the table's own line of sums.
    pub rss_bytes: Option<u64>,
    /// Where the table ends too early, or goes on with what is not read.
    pub broken: Option<ParseError>,
}

/// Parses the text of `pmap -X`; `path` is for messages. What follows a line that is not in this form is not read, and said.
///
/// # Errors
/// When the first two lines are not in this form.
pub fn parse_pmap(path: &Path, text: &str) -> Result<PmapTable, ParseError> {
    let mut lines = lines(path, text);
    let begin = At { path, line: 1 };
    let (at, process) = lines.next().ok_or_else(|| begin.error("process", "missing"))?;
    let (pid, _) = process.split_once(':').ok_or_else(|| at.error("process", "no colon"))?;
    let pid = at.number("process", Some(pid))?;
    let (at, heading) = lines.next().ok_or_else(|| begin.error("columns", "missing"))?;
    let columns = Columns::of(at, heading)?;
    let mut table = PmapTable { pid, ..PmapTable::default() };
    let mut last = at;
    for (at, line) in lines {
        last = at;
        let is_end = table.rss_bytes.is_some();
        match () {
            () if line.trim().is_empty() => {}
            () if is_end => {
                return Ok(table.broken_at(at.error("process", "another one follows, which is not read")));
            }
            () if columns.is_of_sums(line) => table.rss_bytes = columns.kib(at, line, "Rss").ok(),
            () if table.mappings.len() as u64 == MAPPINGS_MAX => {
                return Ok(table.broken_at(at.error("mappings", format!("more than {MAPPINGS_MAX}"))));
            }
            () => match columns.mapping(at, line) {
                Ok(mapping) => table.mappings.push(mapping),
                Err(error) => return Ok(table.broken_at(error)),
            },
        }
    }
    let is_cut = table.rss_bytes.is_none();
    Ok(if is_cut { table.broken_at(last.error("sums", "missing: the text was cut off")) } else { table })
}

impl PmapTable {
    fn broken_at(self, error: ParseError) -> Self {
        PmapTable { broken: Some(error), ..self }
    }
}

/// Where the columns of figures end, and where the names of mappings begin, in bytes.
struct Columns<'a> {
    /// The end of the inodes, the last column before the kernel's keys.
    inode_end: usize,
    ends: Vec<(&'a str, usize)>,
    names_from: usize,
}

impl<'a> Columns<'a> {
    /// The kernel's keys are the same in every language. The other headings are translated, some into several words.
    fn of(at: At<'_>, heading: &'a str) -> Result<Self, ParseError> {
        let lacks =
            |name: &str| at.error("columns", format!("no {name}: only `pmap -X` and `pmap -XX` have it"));
        let size_at = heading.find(" Size ").ok_or_else(|| lacks("Size"))? + 1;
        let inode_end = heading[..size_at].trim_end().len();
        let mut ends = Vec::new();
        let mut end = size_at;
        for word in heading[size_at..].split(' ') {
            end += word.len();
            if !word.is_empty() {
                ends.push((word, end));
            }
            end += 1;
        }
        // The last heading, that of the mappings, is the last word, or begins with the first word that is not ASCII.
        let last = ends.len().saturating_sub(1);
        ends.truncate(ends.iter().position(|(word, _)| !word.is_ascii()).unwrap_or(last));
        if !ends.iter().any(|(name, _)| *name == "Rss") {
            return Err(lacks("Rss"));
        }
        let names_from = ends.last().map_or(size_at, |(_, end)| end + 1);
        Ok(Columns { inode_end, ends, names_from })
    }

    /// Whether a line has no address: that of sums, and the rule above it.
    fn is_of_sums(&self, line: &str) -> bool {
        line.get(..self.inode_end).is_some_and(|mapping| mapping.trim().is_empty())
    }

    /// The figure of a key.
    fn field<'t>(&self, at: At<'_>, line: &'t str, name: &str) -> Result<&'t str, ParseError> {
        let end = self.ends.iter().find(|(column, _)| *column == name).map(|(_, end)| *end);
        let until = end.and_then(|end| line.get(..end)).ok_or_else(|| at.error(name, "missing"))?;
        until.rsplit(' ').next().filter(|field| !field.is_empty()).ok_or_else(|| at.error(name, "missing"))
    }

    fn kib(&self, at: At<'_>, line: &str, name: &str) -> Result<u64, ParseError> {
        at.kib_as_bytes(name, self.field(at, line, name)?)
    }

    fn mapping(&self, at: At<'_>, line: &str) -> Result<Mapping, ParseError> {
        let mut fields = line.get(..self.inode_end).unwrap_or(line).split_ascii_whitespace();
        let mut field = |item: &'static str| fields.next().ok_or_else(|| at.error(item, "missing"));
        let hexadecimal = |item: &str, digits: &str| {
            u64::from_str_radix(digits, 16).map_err(|_| at.error(item, "not hexadecimal"))
        };
        let start = hexadecimal("address", field("address")?)?;
        let end = start.checked_add(self.kib(at, line, "Size")?);
        let end = end.ok_or_else(|| at.error("Size", "ends beyond 2^64 bytes"))?;
        let permissions = field("permissions")?.as_bytes();
        let mut mapping = Mapping {
            addresses: start..end,
            permissions: permissions.try_into().map_err(|_| at.error("permissions", "not four letters"))?,
            offset_bytes: hexadecimal("offset", field("offset")?)?,
            device: field("device")?.to_owned(),
            inode: at.number("inode", Some(field("inode")?))?,
            name: line.get(self.names_from..).unwrap_or_default().to_owned(),
            rss_bytes: self.kib(at, line, "Rss")?,
            ..Mapping::default()
        };
        for (name, _) in &self.ends {
            mapping.add(at, name, self.field(at, line, name).unwrap_or_default())?;
        }
        Ok(mapping)
    }
}
