//! The structures that the JVM exports for debuggers: `gHotSpotVMStructs`, `gHotSpotVMTypes`, and the constants.
//!
//! The tables describe themselves: the stride of an entry and the offsets of its fields are exported too, so that one
//! walk reads JDK 8 to 25 and later, 64-bit and 32-bit. Fields disappear and are renamed from release to release: each is
//! optional, and callers name all spellings that they know.

use crate::{HotspotError, Symbols};
use assay_linux::MemorySource;
use std::collections::HashMap;

/// Entries of a table. JDK 17 has 788 fields and 768 types, JDK 8 about 1,900 of both.
const ENTRIES_MAX: u64 = 20_000;
/// Bytes of an entry: 48 for a field.
const STRIDE_BYTES_MAX: u64 = 256;
/// A name in the tables.
const NAME_BYTES_MAX: usize = 256;
/// Entries that are read at a time.
const ENTRIES_PER_READ: u64 = 64;

/// Where a field is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FieldLocation {
    Offset(u64),
    Static(u64),
}

/// `gHotSpotVMStructs`, `gHotSpotVMTypes`, `gHotSpotVMIntConstants` and `gHotSpotVMLongConstants` of a process.
#[derive(Debug, Default)]
pub struct Structs {
    fields: HashMap<String, HashMap<String, FieldLocation>>,
    sizes: HashMap<String, u64>,
    constants: HashMap<String, i64>,
}

impl Structs {
    /// Reads the tables of a libjvm.
    ///
    /// # Errors
    /// When there are none, or their memory cannot be read.
    pub fn read(source: &dyn MemorySource, symbols: &Symbols) -> Result<Structs, HotspotError> {
        let reader = Reader { source, symbols, texts: symbols.image.constants() };
        let mut structs = Structs::default();
        reader.each(
            "gHotSpotVMStruct",
            ["TypeName", "FieldName", "IsStatic", "Offset", "Address"],
            |entry| {
                let [type_name, field, is_static, offset, address] = entry.words;
                let place = if is_static & 0xffff_ffff == 0 {
                    FieldLocation::Offset(offset)
                } else {
                    FieldLocation::Static(address)
                };
                let type_name = reader.text(type_name)?;
                structs.fields.entry(type_name).or_default().insert(reader.text(field)?, place);
                Some(())
            },
        )?;
        reader.each("gHotSpotVMType", ["TypeName", "Size"], |entry| {
            let [name, size] = entry.words;
            structs.sizes.insert(reader.text(name)?, size);
            Some(())
        })?;
        reader.each("gHotSpotVMIntConstant", ["Name", "Value"], |entry| {
            let [name, value] = entry.words;
            structs.constants.insert(reader.text(name)?, i64::from(value as u32 as i32));
            Some(())
        })?;
        reader.each("gHotSpotVMLongConstant", ["Name", "Value"], |entry| {
            let [name, value] = entry.words;
            structs.constants.insert(reader.text(name)?, value as i64);
            Some(())
        })?;
        Ok(structs)
    }

    /// Offset of a field in objects of its type; `None` for statics and what this release does not export.
    pub fn offset(&self, type_name: &str, field: &str) -> Option<u64> {
        match self.place(type_name, field)? {
            FieldLocation::Offset(offset) => Some(offset),
            FieldLocation::Static(_) => None,
        }
    }

    /// Address of a static field.
    pub fn static_address(&self, type_name: &str, field: &str) -> Option<u64> {
        match self.place(type_name, field)? {
            FieldLocation::Static(address) if address != 0 => Some(address),
            _ => None,
        }
    }

    /// All static fields: type, field and address.
    pub fn statics(&self) -> impl Iterator<Item = (&str, &str, u64)> {
        self.fields.iter().flat_map(|(type_name, fields)| {
            fields.iter().filter_map(move |(field, place)| match place {
                FieldLocation::Static(address) if *address != 0 => {
                    Some((type_name.as_str(), field.as_str(), *address))
                }
                FieldLocation::Static(_) | FieldLocation::Offset(_) => None,
            })
        })
    }

    /// Size of a type in bytes.
    pub fn size_of(&self, type_name: &str) -> Option<u64> {
        self.sizes.get(type_name).copied().filter(|size| *size != 0)
    }

    /// A constant, for example `JVMFlag::TYPE_bool`.
    pub fn constant(&self, name: &str) -> Option<i64> {
        self.constants.get(name).copied()
    }

    /// The offset of the first of several spellings that this release has: (type, field).
    pub fn first_offset(&self, spellings: &[(&str, &str)]) -> Option<u64> {
        spellings.iter().find_map(|(type_name, field)| self.offset(type_name, field))
    }

    /// The address of the first of several spellings of a static field.
    pub fn first_static_address(&self, spellings: &[(&str, &str)]) -> Option<u64> {
        spellings.iter().find_map(|(type_name, field)| self.static_address(type_name, field))
    }

    fn place(&self, type_name: &str, field: &str) -> Option<FieldLocation> {
        self.fields.get(type_name)?.get(field).copied()
    }
}

/// One entry: the fields that were asked for, each widened to 64 bits.
struct Entry<const N: usize> {
    words: [u64; N],
}

struct Reader<'a> {
    source: &'a dyn MemorySource,
    symbols: &'a Symbols,
    texts: crate::image::Constants,
}

impl Reader<'_> {
    /// Calls `use_entry` for each entry of a table, up to the one that it refuses: the last entry has no name.
    fn each<const N: usize>(
        &self,
        table: &str,
        fields: [&str; N],
        mut use_entry: impl FnMut(Entry<N>) -> Option<()>,
    ) -> Result<(), HotspotError> {
        let missing = |what: &str| HotspotError::NotReadable {
            path: self.symbols.path().to_owned(),
            what: format!("no {what} that can be read"),
        };
        let exported = |name: &str| self.symbols.address(name).ok_or_else(|| missing(name));
        let number = |name: &str| {
            let value = self.symbols.u64(self.source, exported(name)?);
            value.filter(|v| *v <= STRIDE_BYTES_MAX).ok_or_else(|| missing(name))
        };
        let start = self.symbols.word(self.source, exported(&format!("{table}s"))?);
        let start = start.ok_or_else(|| missing(table))?;
        let stride = number(&format!("{table}EntryArrayStride"))?;
        let mut offsets = [(0, 0); N];
        for (offset, field) in offsets.iter_mut().zip(fields) {
            // Pointers are words; sizes and offsets are 64 bits on every JVM; an int is enough for the rest, and 4
            // bytes of a wider value.
            let wide = match (field, table) {
                ("TypeName" | "FieldName" | "Name" | "Address", _) => self.symbols.word_bytes(),
                ("IsStatic", _) | ("Value", "gHotSpotVMIntConstant") => 4,
                _ => 8,
            };
            *offset = (number(&format!("{table}Entry{field}Offset"))?, wide);
        }
        if stride == 0 || offsets.iter().any(|(offset, wide)| stride < offset + wide) {
            return Err(missing(table));
        }
        let mut buffer = vec![0; (stride * ENTRIES_PER_READ) as usize];
        for block in 0..ENTRIES_MAX / ENTRIES_PER_READ {
            let at = start.checked_add(block * ENTRIES_PER_READ * stride).ok_or_else(|| missing(table))?;
            // The table lies in the file's data, and may end where that ends.
            let data = self.symbols.data_ranges().iter().find(|range| range.contains(&at));
            let bytes = data.map_or(0, |data| (data.end - at).min(buffer.len() as u64));
            let block = &mut buffer[..bytes as usize];
            self.symbols.read(self.source, at, block).map_err(|_| missing(table))?;
            if bytes < stride {
                return Ok(());
            }
            for entry in block.chunks_exact(stride as usize) {
                let words = offsets.map(|(offset, wide)| {
                    let mut bytes = [0; 8];
                    bytes[..wide as usize].copy_from_slice(&entry[offset as usize..(offset + wide) as usize]);
                    u64::from_le_bytes(bytes)
                });
                if words[0] == 0 || use_entry(Entry { words }).is_none() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn text(&self, address: u64) -> Option<String> {
        match self.texts.text(address) {
            Some(text) => Some(text.to_owned()),
            None => self.symbols.c_string(self.source, address, NAME_BYTES_MAX),
        }
    }
}
