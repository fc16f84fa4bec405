//! Sub-records of heap records: objects, classes, roots.

use super::classes::{ClassDump, ClassTable, RawField};
use super::dump::{Dump, Segment, Stop};
use super::tally::Tally;
use crate::{FieldKind, PrimitiveKind};

const CLASS: u8 = 0x20;
const INSTANCE: u8 = 0x21;
const REFERENCES: u8 = 0x22;
const NUMBERS: u8 = 0x23;
/// Android: as NUMBERS, without the elements.
const NUMBERS_WITHOUT_DATA: u8 = 0xc3;
/// Longest head of an object: tag, identifier, stack, length, class.
const HEAD_BYTES_MAX: usize = 25;
/// Objects up to this size are looked at whole.
const WHOLE_BYTES_MAX: usize = 4096;
/// A class has at most 65,535 fields, and so has each above it; nothing real comes near this.
const INSTANCE_BYTES_MAX: u64 = 1 << 24;

/// Bytes of a root's sub-record behind its tag; `None` for other tags.
const fn root_bytes(tag: u8, id: usize) -> Option<usize> {
    match tag {
        // Unknown, sticky class, monitor; Android's interned, finalizing, debugger, reference cleanup, VM, unreachable.
        0xff | 0x05 | 0x07 | 0x89 | 0x8a | 0x8b | 0x8c | 0x8d | 0x90 => Some(id),
        // JNI global.
        0x01 => Some(2 * id),
        // JNI local, Java frame, thread object; Android's JNI monitor.
        0x02 | 0x03 | 0x08 | 0x8e => Some(id + 8),
        // Native stack, thread block.
        0x04 | 0x06 => Some(id + 4),
        // Android's heap: number and name.
        0xfe => Some(4 + id),
        _ => None,
    }
}

/// The type of an element or a value, by number, or by letter in version 1.0.
fn kind_of(number: u8) -> Option<FieldKind> {
    let primitive = match number {
        1 | 2 | b'L' | b'[' => return Some(FieldKind::Reference),
        4 | b'Z' => PrimitiveKind::Boolean,
        5 | b'C' => PrimitiveKind::Char,
        6 | b'F' => PrimitiveKind::Float,
        7 | b'D' => PrimitiveKind::Double,
        8 | b'B' => PrimitiveKind::Byte,
        9 | b'S' => PrimitiveKind::Short,
        10 | b'I' => PrimitiveKind::Int,
        11 | b'J' => PrimitiveKind::Long,
        _ => return None,
    };
    Some(FieldKind::Primitive(primitive))
}

fn element_of(number: u8) -> Option<PrimitiveKind> {
    PrimitiveKind::ALL.get(usize::from(number).wrapping_sub(4)).copied()
}

/// An identifier at an offset of a head; the caller has checked that it is there.
#[inline(always)]
fn id_at<const ID: usize>(head: &[u8; HEAD_BYTES_MAX], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes[8 - ID..].copy_from_slice(&head[at..at + ID]);
    u64::from_be_bytes(bytes)
}

#[inline(always)]
fn u32_at(head: &[u8; HEAD_BYTES_MAX], at: usize) -> u64 {
    u64::from(u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]))
}

/// Where [`count_objects`] got to.
struct Walked {
    /// Bytes gone over.
    bytes: usize,
    /// Bytes of the last object beyond the window.
    beyond: u64,
    /// Whether those are references.
    goes_on_with_references: bool,
}

impl Walked {
    fn up_to(bytes: usize) -> Walked {
        Walked { bytes, beyond: 0, goes_on_with_references: false }
    }
}

/// Counts the objects and passes the roots of a window, up to the first sub-record that needs more care: a class, one that
/// is cut off by the window's end, one that leaves the segment, of which `left` bytes are left, or an unknown one.
fn count_objects<const ID: usize>(window: &[u8], left: u64, is_first: bool, tally: &mut Tally) -> Walked {
    let mut at = 0;
    while let Some(head) = window[at..].first_chunk::<HEAD_BYTES_MAX>() {
        let (head_bytes, body) = match head[0] {
            INSTANCE => (9 + 2 * ID, u32_at(head, 5 + 2 * ID)),
            REFERENCES if !is_first => (9 + 2 * ID, u32_at(head, 5 + ID) * ID as u64),
            NUMBERS => {
                let Some(kind) = element_of(head[9 + ID]) else { break };
                (10 + ID, u32_at(head, 5 + ID) * kind.bytes())
            }
            tag => match root_bytes(tag, ID) {
                Some(bytes) => {
                    at += 1 + bytes;
                    if at > window.len() {
                        return Walked::up_to(at - 1 - bytes);
                    }
                    tally.refers_to(id_at::<ID>(head, 1));
                    continue;
                }
                None => break,
            },
        };
        let size = head_bytes as u64 + body;
        let in_window = (window.len() - at) as u64;
        if size > in_window && (size <= WHOLE_BYTES_MAX as u64 || size > left - at as u64) {
            break;
        }
        let body_here = &window[at + head_bytes..at + size.min(in_window) as usize];
        let id = id_at::<ID>(head, 1);
        match head[0] {
            INSTANCE => tally.instance::<ID>(id, id_at::<ID>(head, 5 + ID), body_here),
            REFERENCES => {
                tally.references(id, id_at::<ID>(head, 9 + ID), u32_at(head, 5 + ID), ID as u64);
                let elements = body_here.as_chunks::<ID>().0.as_flattened();
                tally.elements::<ID>(elements);
                if size > in_window {
                    let bytes = head_bytes + elements.len();
                    let beyond = size - bytes as u64;
                    return Walked { bytes: at + bytes, beyond, goes_on_with_references: true };
                }
            }
            _ => {
                if let Some(kind) = element_of(head[9 + ID]) {
                    tally.numbers(id, kind, u32_at(head, 5 + ID), body_here);
                }
            }
        }
        if size > in_window {
            return Walked { beyond: size - in_window, ..Walked::up_to(window.len()) };
        }
        at += size as usize;
    }
    Walked::up_to(at)
}

/// Whether sub-records lie here one behind the other: at least one, as far as the bytes go, of classes that are known.
pub(super) fn begins_with_sub_records<const ID: usize>(bytes: &[u8], classes: &ClassTable) -> bool {
    let is_known = |class| classes.find(class).is_some();
    let mut rest = bytes;
    let mut whole = 0;
    while whole < 16 {
        let Some(head) = rest.first_chunk::<HEAD_BYTES_MAX>() else { break };
        let size = match head[0] {
            INSTANCE => {
                let fields = u32_at(head, 5 + 2 * ID);
                if fields > INSTANCE_BYTES_MAX || !is_known(id_at::<ID>(head, 5 + ID)) {
                    return false;
                }
                9 + 2 * ID as u64 + fields
            }
            REFERENCES if !is_known(id_at::<ID>(head, 9 + ID)) => return false,
            REFERENCES => 9 + 2 * ID as u64 + u32_at(head, 5 + ID) * ID as u64,
            NUMBERS => match element_of(head[9 + ID]) {
                Some(kind) => 10 + ID as u64 + u32_at(head, 5 + ID) * kind.bytes(),
                None => return false,
            },
            // A class's size is not known beforehand.
            CLASS => return whole > 0 || id_at::<ID>(head, 1) != 0,
            tag => match root_bytes(tag, ID) {
                Some(bytes) => 1 + bytes as u64,
                None => return false,
            },
        };
        whole += 1;
        match rest.get(usize::try_from(size).unwrap_or(usize::MAX)..) {
            Some(behind) => rest = behind,
            None => break,
        }
    }
    whole > 0
}

impl<const ID: usize> Dump<'_, ID> {
    /// Reads the sub-records of the segment that has begun.
    pub(super) fn sub_records(&mut self) -> Result<(), Stop> {
        loop {
            let offset = self.cursor.offset();
            if offset == self.segment.end && !self.goes_on() {
                return Ok(());
            }
            self.cursor.has(WHOLE_BYTES_MAX);
            let left = self.segment.end - offset;
            let rest = self.cursor.rest();
            let window = &rest[..rest.len().min(usize::try_from(left).unwrap_or(usize::MAX))];
            let walked = count_objects::<ID>(window, left, self.has_letters, &mut self.tally);
            self.cursor.advance(walked.bytes);
            let is_passed = match &mut self.tally.references {
                Some(references) if walked.goes_on_with_references => {
                    self.cursor.pieces(walked.beyond, |piece| references.meet_all::<ID>(piece))
                }
                _ => self.cursor.skip(walked.beyond),
            };
            if !is_passed {
                return Err(Stop::Over);
            }
            if walked.bytes == 0 && !self.sub_record()? {
                return Ok(());
            }
        }
    }

    /// Reads one sub-record with care; false when none begins here because the segment, whose length is not known, is over.
    fn sub_record(&mut self) -> Result<bool, Stop> {
        if !self.cursor.has(1) {
            return if self.segment.end == u64::MAX { Ok(false) } else { Err(Stop::Over) };
        }
        if self.segment.end == u64::MAX && self.header_here().is_some_and(|next| next.tag > 0x08) {
            return Ok(false);
        }
        let [tag] = self.take()?;
        match tag {
            CLASS => self.class()?,
            INSTANCE => {
                let id = self.id()?;
                let _stack = self.take::<4>()?;
                let class = self.id()?;
                let fields = self.u32()?;
                if fields > INSTANCE_BYTES_MAX {
                    return Err(Stop::Damaged(format!("an instance of {fields} bytes")));
                }
                let fields: Result<Vec<u8>, Stop> =
                    (0..fields).map(|_| self.take::<1>().map(|[byte]| byte)).collect();
                self.tally.instance::<ID>(id, class, &fields?);
            }
            REFERENCES => self.references()?,
            NUMBERS | NUMBERS_WITHOUT_DATA => {
                let id = self.id()?;
                let _stack = self.take::<4>()?;
                let length = self.u32()?;
                let [element] = self.take()?;
                let kind = element_of(element)
                    .ok_or_else(|| Stop::Damaged(format!("an array of unknown elements, {element}")))?;
                if tag == NUMBERS {
                    self.pass(length * kind.bytes())?;
                }
                self.tally.numbers(id, kind, length, &[]);
            }
            _ => match root_bytes(tag, ID) {
                Some(bytes) => {
                    let id = self.id()?;
                    self.tally.refers_to(id);
                    self.pass((bytes - ID) as u64)?;
                }
                None => return Err(Stop::Damaged(format!("an unknown sub-record, 0x{tag:02x}"))),
            },
        }
        Ok(true)
    }

    fn references(&mut self) -> Result<(), Stop> {
        let id = self.id()?;
        let _stack = self.take::<4>()?;
        let length = self.u32()?;
        let class = self.id()?;
        // Version 1.0 has no records for arrays of numbers.
        let element = u8::try_from(class).ok().and_then(element_of).filter(|_| self.has_letters);
        if self.tally.references.is_some() && element.is_none() {
            for _ in 0..length {
                let id = self.id()?;
                self.tally.refers_to(id);
            }
        } else {
            self.pass(length * element.map_or(ID as u64, PrimitiveKind::bytes))?;
        }
        match element {
            Some(kind) => self.tally.numbers(id, kind, length, &[]),
            None => self.tally.references(id, class, length, ID as u64),
        }
        Ok(())
    }

    fn class(&mut self) -> Result<(), Stop> {
        let id = self.id()?;
        let _stack = self.take::<4>()?;
        let super_id = self.id()?;
        // Loader, signers, protection domain, two reserved; bytes of an instance without those of its header.
        self.pass(5 * ID as u64 + 4)?;
        for _ in 0..self.u16()? {
            let _index = self.u16()?;
            let kind = self.kind()?;
            self.pass(bytes_of::<ID>(kind))?;
        }
        let mut statics = Vec::new();
        let mut objects = Vec::new();
        for _ in 0..self.u16()? {
            let name = self.id()?;
            let kind = self.kind()?;
            match kind {
                FieldKind::Reference => objects.push((name, self.id()?)),
                FieldKind::Primitive(_) => self.pass(bytes_of::<ID>(kind))?,
            }
            statics.push(RawField::new(name, kind));
        }
        let mut fields = Vec::new();
        for _ in 0..self.u16()? {
            fields.push(RawField::new(self.id()?, self.kind()?));
        }
        self.tally.neighbours.mirror(id);
        objects.iter().for_each(|(_, id)| self.tally.refers_to(*id));
        let dump = ClassDump { super_id, fields: fields.into(), statics: statics.into() };
        self.add_class(id, dump, &objects);
        Ok(())
    }

    fn id(&mut self) -> Result<u64, Stop> {
        let bytes = self.take::<ID>()?;
        Ok(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn u32(&mut self) -> Result<u64, Stop> {
        Ok(u64::from(u32::from_be_bytes(self.take()?)))
    }

    fn u16(&mut self) -> Result<u16, Stop> {
        Ok(u16::from_be_bytes(self.take()?))
    }

    fn kind(&mut self) -> Result<FieldKind, Stop> {
        let [number] = self.take()?;
        kind_of(number).ok_or_else(|| Stop::Damaged(format!("a field of unknown type, {number}")))
    }

    /// Leaves a segment in which a sub-record makes no sense; false when its end is not known either.
    pub(super) fn leave_segment(&mut self) -> bool {
        let Segment { end, .. } = self.segment;
        self.tally.neighbours.interrupt();
        end != u64::MAX && self.cursor.skip(end.saturating_sub(self.cursor.offset()))
    }
}

fn bytes_of<const ID: usize>(kind: FieldKind) -> u64 {
    match kind {
        FieldKind::Primitive(kind) => kind.bytes(),
        FieldKind::Reference => ID as u64,
    }
}
