//! The fields that classes declare, as the JVM keeps them: until JDK 20 six numbers for each, later a packed stream.

use super::backed::Backed;
use super::classes::{ClassKind, HeapClass, HeapClasses};
use crate::Hotspot;
use std::collections::HashMap;

/// A class file has at most so many fields; the JVM adds some.
const FIELDS_MAX: u64 = 70_000;
/// Numbers of a field until JDK 20.
const SLOTS: usize = 6;
/// A packed field: seven numbers of up to five bytes.
const PACKED_BYTES_MAX: u64 = 35;
/// `ACC_STATIC` of the class file format.
const STATIC: u32 = 8;
/// Entries of a constant pool.
const POOL_MAX: u32 = 65_535;

/// A field that a class declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassField {
    /// Its name.
    pub name: String,
    /// First letter of its type in class files: `I` for int, `L` or `[` for references.
    pub descriptor: u8,
    /// Whether it is static: its value is in the class's mirror.
    pub is_static: bool,
    /// Where it is in an instance, or in the mirror, in bytes.
    pub offset_bytes: u64,
}

/// Reads the fields of classes. Texts and types are read once and kept.
pub struct FieldReader<'c, 'm> {
    classes: &'c HeapClasses<'m>,
    form: Form,
    constants: u64,
    pool_bytes: u64,
    pool_length: u64,
    array_data: u64,
    reference_bytes: u64,
    letters: HashMap<u64, u8>,
}

/// How a release keeps fields.
enum Form {
    Slots { fields: u64, count: u64 },
    Packed { stream: u64, flags: Flags },
}

/// Optional parts of a packed field, by bits of its flags.
#[derive(Clone, Copy)]
struct Flags {
    initialized: u32,
    injected: u32,
    generic: u32,
    contended: u32,
}

/// A field before its name is looked up.
struct Raw {
    name: u32,
    descriptor: u32,
    access: u32,
    offset: u64,
}

impl Hotspot<'_> {
    /// A reader of fields; `None` where the release does not export where they are (a problem says so).
    pub fn field_reader<'c, 'm>(&self, classes: &'c HeapClasses<'m>) -> Option<FieldReader<'c, 'm>> {
        let structs = self.structs();
        let slots = || {
            let count = structs.offset("InstanceKlass", "_java_fields_count")?;
            (structs.constant("FieldInfo::field_slots")? == SLOTS as i64).then_some(())?;
            Some(Form::Slots { fields: structs.offset("InstanceKlass", "_fields")?, count })
        };
        let flag = |name, usual: u32| {
            let value = structs.constant(&format!("FieldInfo::FieldFlags::_ff_{name}"));
            value.and_then(|value| u32::try_from(value).ok()).filter(|bit| *bit < 32).unwrap_or(usual)
        };
        let packed = || {
            let flags = Flags {
                initialized: flag("initialized", 0),
                injected: flag("injected", 1),
                generic: flag("generic", 2),
                contended: flag("contended", 4),
            };
            Some(Form::Packed { stream: structs.offset("InstanceKlass", "_fieldinfo_stream")?, flags })
        };
        let reader = || {
            let is_narrow = self.flags().bool("UseCompressedOops") == Some(true);
            Some(FieldReader {
                classes,
                form: packed().or_else(slots)?,
                constants: structs.offset("InstanceKlass", "_constants")?,
                pool_bytes: structs.size_of("ConstantPool")?,
                pool_length: structs.offset("ConstantPool", "_length")?,
                array_data: structs.offset("Array<u1>", "_data")?,
                reference_bytes: if is_narrow { 4 } else { classes.object.word_bytes },
                letters: HashMap::new(),
            })
        };
        let reader = reader();
        if reader.is_none() {
            self.problem("classes", "this release does not export where the fields of classes are");
        }
        reader
    }
}

impl FieldReader<'_, '_> {
    /// The fields that a class declares itself, in the class file's order; none of an array class. `None` when they
    /// could not be read, do not fit an instance, or the class is no longer there.
    pub fn fields_of(&mut self, class: &HeapClass) -> Option<Vec<ClassField>> {
        let instance_bytes = match class.kind {
            ClassKind::Array { .. } => return Some(Vec::new()),
            ClassKind::Instance { bytes } | ClassKind::Mirror { bytes } | ClassKind::StackChunk { bytes } => {
                bytes
            }
        };
        // It may have been unloaded since the list was read, and its memory used anew.
        if self.backed().word(class.address.checked_add(self.classes.layout.name)?)? != class.name_symbol {
            return None;
        }
        let pool = self.backed().word(class.address.checked_add(self.constants)?)?;
        let length = self.backed().u32(pool.checked_add(self.pool_length)?)?.min(POOL_MAX);
        let raw = match self.form {
            Form::Slots { fields, count } => self.slots(class.address, fields, count)?,
            Form::Packed { stream, flags } => self.packed(class.address, stream, flags)?,
        };
        let mut fields = Vec::with_capacity(raw.len());
        let mut bytes = 0;
        for field in raw {
            let is_static = field.access & STATIC != 0;
            let descriptor = self.letter(self.symbol_of(pool, length, field.descriptor)?)?;
            let name = self.classes.symbol(self.symbol_of(pool, length, field.name)?)?;
            let own = self.bytes_of(descriptor)?;
            if !is_static {
                bytes += own;
                if instance_bytes < field.offset.checked_add(own)? || !field.offset.is_multiple_of(own) {
                    return None;
                }
            }
            fields.push(ClassField { name, descriptor, is_static, offset_bytes: field.offset });
        }
        (bytes <= instance_bytes).then_some(fields)
    }

    fn backed(&self) -> &Backed<'_> {
        &self.classes.backed
    }

    fn bytes_of(&self, descriptor: u8) -> Option<u64> {
        Some(match descriptor {
            b'Z' | b'B' => 1,
            b'C' | b'S' => 2,
            b'F' | b'I' => 4,
            b'D' | b'J' => 8,
            b'L' | b'[' => self.reference_bytes,
            _ => return None,
        })
    }

    /// The symbol that an entry of a constant pool points at.
    fn symbol_of(&self, pool: u64, length: u32, index: u32) -> Option<u64> {
        if index == 0 || length <= index {
            return None;
        }
        let at = self.pool_bytes + u64::from(index) * self.classes.object.word_bytes;
        self.backed().word(pool.checked_add(at)?)
    }

    /// First letter of a symbol.
    fn letter(&mut self, symbol: u64) -> Option<u8> {
        if let Some(letter) = self.letters.get(&symbol) {
            return Some(*letter);
        }
        let mut letter = [0];
        self.backed().read(symbol.checked_add(self.classes.layout.symbol_body)?, &mut letter).ok()?;
        self.letters.insert(symbol, letter[0]);
        Some(letter[0])
    }

    /// `Array<T>`: its length, then its elements.
    fn array(&self, place: u64, element_bytes: u64, elements_max: u64) -> Option<Vec<u8>> {
        let array = self.backed().word(place)?;
        let length = u64::from(self.backed().u32(array)?).min(elements_max);
        let mut bytes = vec![0; usize::try_from(length * element_bytes).ok()?];
        self.backed().read(array.checked_add(self.array_data)?, &mut bytes).ok()?;
        Some(bytes)
    }

    /// Until JDK 20: flags, name, type, constant, and the offset above two bits of tags in the last two of six numbers.
    /// Those of the class file come first, those that the JVM adds behind them.
    fn slots(&self, klass: u64, fields: u64, count: u64) -> Option<Vec<Raw>> {
        let count = usize::from(self.backed().u16(klass.checked_add(count)?)?);
        let bytes = self.array(klass.checked_add(fields)?, 2, FIELDS_MAX * SLOTS as u64)?;
        let numbers = bytes.as_chunks::<2>().0.iter().map(|pair| u32::from(u16::from_le_bytes(*pair)));
        let numbers: Vec<u32> = numbers.collect();
        let fields = numbers.as_chunks::<SLOTS>().0.get(..count)?;
        let raw = fields.iter().map(|[access, name, descriptor, _, low, high]| Raw {
            name: *name,
            descriptor: *descriptor,
            access: *access,
            offset: u64::from((high << 16 | low) >> 2),
        });
        Some(raw.collect())
    }

    /// From JDK 21 on: a stream of packed numbers. How many fields the class file has and how many the JVM adds; then of
    /// each name, type, offset, access, flags, and what the flags say.
    fn packed(&self, klass: u64, stream: u64, flags: Flags) -> Option<Vec<Raw>> {
        let bytes = self.array(klass.checked_add(stream)?, 1, FIELDS_MAX * PACKED_BYTES_MAX)?;
        let mut rest = bytes.as_slice();
        let count = unpack(&mut rest)?;
        let added = unpack(&mut rest)?;
        let mut fields = Vec::new();
        for _ in 0..u64::from(count).checked_add(added.into())?.min(FIELDS_MAX) {
            let [name, descriptor, offset, access, bits] = [(); 5].map(|()| unpack(&mut rest));
            let bits = bits?;
            let more = [flags.initialized, flags.generic, flags.contended];
            for _ in more.iter().filter(|bit| bits >> **bit & 1 != 0) {
                unpack(&mut rest)?;
            }
            if bits >> flags.injected & 1 == 0 {
                fields.push(Raw {
                    name: name?,
                    descriptor: descriptor?,
                    access: access?,
                    offset: offset?.into(),
                });
            }
        }
        (fields.len() as u64 == u64::from(count)).then_some(fields)
    }
}

/// A number in the form UNSIGNED5: digits of 6 bits, the lowest first, each one more than it counts so that none is
/// zero; the last digit is below 192, or the fifth.
fn unpack(bytes: &mut &[u8]) -> Option<u32> {
    let mut sum = 0_u32;
    for digit in 0..5 {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        let value = u32::from(first.checked_sub(1)?);
        sum = sum.wrapping_add(value << (6 * digit));
        if *first < 192 || digit == 4 {
            return Some(sum);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::unpack;

    #[test]
    fn packed_numbers_are_those_that_were_packed() {
        // From the description of the form: one digit up to 190, then 64 apart.
        for (bytes, value) in [
            (&[1_u8][..], 0),
            (&[191], 190),
            (&[192, 1], 191),
            (&[255, 1], 254),
            (&[192, 2], 255),
            (&[193, 1], 192),
            (&[255, 255, 1], 254 + 254 * 64),
        ] {
            let mut rest = bytes;
            assert_eq!(unpack(&mut rest), Some(value), "{bytes:?}");
            assert!(rest.is_empty());
        }
        assert_eq!(unpack(&mut &[0_u8][..]), None, "the end");
        assert_eq!(unpack(&mut &[200_u8][..]), None, "cut off");
    }
}
