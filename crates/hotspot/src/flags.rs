//! The JVM's flags with their values, those included that nobody set.

use crate::image::Constants;
use crate::{Structs, Symbols};
use assay_linux::MemorySource;
use assay_model::FlagOrigin;
use std::collections::BTreeMap;

/// Flags of a JVM: about 1,500 with all collectors, more in debug builds.
const FLAGS_MAX: u64 = 10_000;
/// Bytes of a flag's entry: 16, 24 or 40.
const ENTRY_BYTES_MAX: u64 = 256;
/// A text that is a flag's value. Paths of agents and class lists are longer than one would think.
const TEXT_BYTES_MAX: usize = 16 << 10;
/// Types by number (JDK 15 and later), in the JVM's order.
const KINDS: [&str; 10] =
    ["bool", "int", "uint", "intx", "uintx", "uint64_t", "size_t", "double", "ccstr", "ccstrlist"];
/// The bits of a flag's word that say who set it (`JVMFlagOrigin`, `Flag::Flags` before JDK 17: the same numbers since JDK 8).
const ORIGIN_MASK: u64 = 0xf;

/// Flags by name.
#[derive(Debug, Default)]
pub struct Flags {
    flags: BTreeMap<String, Flag>,
}

/// A flag's value.
#[derive(Debug, Clone, PartialEq)]
pub enum FlagValue {
    /// On or off.
    Bool(bool),
    /// A signed number.
    Int(i64),
    /// An unsigned number.
    Uint(u64),
    /// A fraction.
    Double(f64),
    /// A text; `None` where it is unset.
    Text(Option<String>),
}

#[derive(Debug)]
struct Flag {
    value: FlagValue,
    set_by: FlagOrigin,
}

impl Flags {
    /// Reads `JVMFlag::flags`, which was called `Flag` before JDK 10.
    pub(crate) fn read(source: &dyn MemorySource, symbols: &Symbols, structs: &Structs) -> Flags {
        let texts = symbols.image.constants();
        for type_name in ["JVMFlag", "Flag"] {
            if let Some(table) = Table::find(source, symbols, structs, type_name, &texts) {
                return table.read();
            }
        }
        Flags::default()
    }

    /// A flag that is on or off.
    pub fn bool(&self, name: &str) -> Option<bool> {
        match self.value(name)? {
            FlagValue::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// A number, if it fits: for those that are meant to be unlimited see [`Flags::uint`].
    pub fn int(&self, name: &str) -> Option<i64> {
        match self.value(name)? {
            FlagValue::Int(value) => Some(*value),
            FlagValue::Uint(value) => i64::try_from(*value).ok(),
            _ => None,
        }
    }

    /// A number that is not negative. Unlimited ones are near the largest number there is.
    pub fn uint(&self, name: &str) -> Option<u64> {
        match self.value(name)? {
            FlagValue::Int(value) => u64::try_from(*value).ok(),
            FlagValue::Uint(value) => Some(*value),
            _ => None,
        }
    }

    /// A text that is set.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.value(name)? {
            FlagValue::Text(value) => value.as_deref(),
            _ => None,
        }
    }

    /// The value, whatever its type.
    pub fn value(&self, name: &str) -> Option<&FlagValue> {
        self.flags.get(name).map(|flag| &flag.value)
    }

    /// Whether nobody, and not the JVM's ergonomics either, has set it.
    pub fn is_default(&self, name: &str) -> Option<bool> {
        self.set_by(name).map(|set_by| set_by == FlagOrigin::Default)
    }

    /// Who set it.
    pub fn set_by(&self, name: &str) -> Option<FlagOrigin> {
        self.flags.get(name).map(|flag| flag.set_by)
    }

    /// Names of all flags, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.flags.keys().map(String::as_str)
    }
}

impl std::fmt::Display for FlagValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FlagValue::Bool(value) => write!(f, "{value}"),
            FlagValue::Int(value) => write!(f, "{value}"),
            FlagValue::Uint(value) => write!(f, "{value}"),
            FlagValue::Double(value) => write!(f, "{value:.6}"),
            FlagValue::Text(value) => f.write_str(value.as_deref().unwrap_or_default()),
        }
    }
}

/// The JVM's table of flags.
struct Table<'a> {
    source: &'a dyn MemorySource,
    symbols: &'a Symbols,
    texts: &'a Constants,
    start: u64,
    count: u64,
    stride: u64,
    offsets: Offsets,
}

#[derive(Clone, Copy)]
struct Offsets {
    name: u64,
    address: u64,
    origin: u64,
    kind: u64,
}

impl<'a> Table<'a> {
    fn find(
        source: &'a dyn MemorySource,
        symbols: &'a Symbols,
        structs: &Structs,
        type_name: &str,
        texts: &'a Constants,
    ) -> Option<Table<'a>> {
        let word = |field| symbols.word(source, structs.static_address(type_name, field)?);
        let offset = |field| structs.offset(type_name, field).filter(|o| *o <= ENTRY_BYTES_MAX - 8);
        let offsets = Offsets {
            name: offset("_name")?,
            address: offset("_addr")?,
            origin: offset("_flags")?,
            kind: offset("_type")?,
        };
        let stride = structs.size_of(type_name).filter(|s| (8..=ENTRY_BYTES_MAX).contains(s))?;
        let count = word("numFlags")?.min(FLAGS_MAX);
        Some(Table { source, symbols, texts, start: word("flags")?, count, stride, offsets })
    }

    fn read(&self) -> Flags {
        // An entry is read up to eight bytes beyond its last field.
        let mut entries = vec![0; (self.stride * self.count) as usize];
        if self.symbols.read(self.source, self.start, &mut entries).is_err() {
            return Flags::default();
        }
        entries.resize(entries.len() + 8, 0);
        let flags = (0..self.count).filter_map(|i| self.flag(&entries[(i * self.stride) as usize..]));
        Flags { flags: flags.collect() }
    }

    fn flag(&self, entry: &[u8]) -> Option<(String, Flag)> {
        let Offsets { name, address, origin, kind } = self.offsets;
        let name = self.text(self.word(entry, name)?)?;
        let number = number(entry, kind, 4)?;
        let kind = match KINDS.get(number as usize) {
            Some(kind) => (*kind).to_owned(),
            // Before JDK 15: the type's name.
            None => self.text(self.word(entry, kind)?)?,
        };
        let set_by = origin_of(self::number(entry, origin, 4)? & ORIGIN_MASK);
        let value = self.value(&kind, self.word(entry, address)?)?;
        Some((name, Flag { value, set_by }))
    }

    fn value(&self, kind: &str, address: u64) -> Option<FlagValue> {
        let word_bytes = self.symbols.word_bytes() as usize;
        let read = |bytes: usize| {
            let mut buffer = [0; 8];
            self.symbols.read(self.source, address, &mut buffer[..bytes]).ok()?;
            Some(u64::from_le_bytes(buffer))
        };
        Some(match kind {
            "bool" => FlagValue::Bool(read(1)? != 0),
            "int" => FlagValue::Int(i64::from(read(4)? as u32 as i32)),
            "intx" if word_bytes == 4 => FlagValue::Int(i64::from(read(4)? as u32 as i32)),
            "intx" => FlagValue::Int(read(8)? as i64),
            "uint" => FlagValue::Uint(read(4)?),
            "uintx" | "size_t" => FlagValue::Uint(read(word_bytes)?),
            "uint64_t" => FlagValue::Uint(read(8)?),
            "double" => FlagValue::Double(f64::from_bits(read(8)?)),
            "ccstr" | "ccstrlist" => match read(word_bytes)? {
                0 => FlagValue::Text(None),
                text => FlagValue::Text(Some(self.text(text)?)),
            },
            _ => return None,
        })
    }

    fn word(&self, entry: &[u8], offset: u64) -> Option<u64> {
        number(entry, offset, self.symbols.word_bytes())
    }

    fn text(&self, address: u64) -> Option<String> {
        match self.texts.text(address) {
            Some(text) => Some(text.to_owned()),
            None => self.symbols.c_string(self.source, address, TEXT_BYTES_MAX),
        }
    }
}

/// Folklore: 8 is `JIMAGE_RESOURCE` since JDK 13, options inside a `jlink` image.
/// Held by: `flags_are_those_that_the_jvm_prints`.
fn origin_of(number: u64) -> FlagOrigin {
    match number {
        0 => FlagOrigin::Default,
        1..=3 | 8 => FlagOrigin::User,
        5 | 7 => FlagOrigin::Ergonomics,
        4 | 6 => FlagOrigin::Running,
        _ => FlagOrigin::Other,
    }
}

fn number(entry: &[u8], offset: u64, width: u64) -> Option<u64> {
    let mut bytes = [0; 8];
    let from = entry.get(offset as usize..(offset + width) as usize)?;
    bytes[..width as usize].copy_from_slice(from);
    Some(u64::from_le_bytes(bytes))
}
