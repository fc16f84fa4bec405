//! References between Java objects, and the text of a `java.lang.String`.
//!
//! Where a Java field lies is decided when its class is loaded. The JVM keeps the offsets of those that it needs itself
//! in private variables, `java_lang_Thread::_name_offset` and the like, so that they are found by symbols of libjvm (8 to 25).

use crate::Hotspot;
use crate::heap::{Forwardings, Moved, ZViews};
use assay_jdk::release::{ArrayElements, StringElements};
use assay_linux::MemorySource;

/// A text that is read; names of threads are shorter.
const TEXT_BYTES_MAX: u64 = 4096;
/// Where the fields of an object can be.
const FIELD_OFFSET_MAX: u64 = 4096;
/// `String.coder` of texts with two bytes for each character.
const UTF16: u8 = 1;

/// The first of the four bits of ZGC's colours that say when a reference was last corrected.
const REMAPPED_BIT: u32 = 12;
/// Both are set in references from an old object to another.
const REMEMBERED_BITS: u64 = 0b11 << 4;
/// Below the colours, and never set.
const RESERVED_BITS: u64 = 0xf;

/// How references are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct References {
    /// Bytes of a reference in an object.
    bytes: u64,
    /// Base and shift of a reference of 32 bits; none when a reference in an object is a whole word.
    narrow: Option<(u64, u32)>,
    /// By how much ZGC's references with generations are shifted to the left, above their colour, when they have today's.
    colour_shift: Option<u32>,
    /// Bits of ZGC's references of which one is set where nobody followed the reference since objects were last moved.
    bad_bits: u64,
    /// Where the objects are to which such references lead.
    forwardings: Option<Forwardings>,
    /// Where ZGC maps the heap.
    views: Option<ZViews>,
}

impl References {
    /// By the flags, and the exported base and shift.
    pub(crate) fn of(hotspot: &Hotspot<'_>) -> Option<References> {
        let (structs, source) = (hotspot.structs(), hotspot.source());
        let mut references = References {
            bytes: source.word_bytes(),
            narrow: None,
            colour_shift: None,
            bad_bits: 0,
            forwardings: None,
            views: None,
        };
        if hotspot.flags().bool("UseCompressedOops") == Some(true) {
            let place = |field: &str| {
                structs.first_static_address(&[
                    ("CompressedOops", field),
                    ("CompressedOops", &format!("_narrow_oop.{field}")),
                    ("Universe", &format!("_narrow_oop.{field}")),
                ])
            };
            let shift = source.u32(place("_shift")?).filter(|shift| *shift < 32)?;
            references.narrow = Some((source.word(place("_base")?)?, shift));
            references.bytes = 4;
        }
        if hotspot.flags().bool("UseZGC") == Some(true) {
            references.colours(hotspot)?;
        }
        Some(references)
    }

    /// What ZGC exports of its colours, with generations or without (JDK 21 to 23 have both, the latter as X).
    fn colours(&mut self, hotspot: &Hotspot<'_>) -> Option<()> {
        let (structs, source) = (hotspot.structs(), hotspot.source());
        let exported = |globals: &str, field: &str| {
            structs.offset(globals, field)?;
            hotspot.pointer(hotspot.static_pointer(&[(globals, "_instance_p")])?, &[(globals, field)])
        };
        let shift = exported("ZGlobalsForVMStructs", "_ZPointerLoadShift");
        let bad_bits = match shift.filter(|_| hotspot.flags().bool("ZGenerational") != Some(false)) {
            Some(shift) => {
                self.colour_shift = Some(source.u32(shift).filter(|shift| *shift < 32)?);
                exported("ZGlobalsForVMStructs", "_ZPointerLoadBadMask")
            }
            None => exported("XGlobalsForVMStructs", "_XAddressWeakBadMask")
                .or_else(|| exported("ZGlobalsForVMStructs", "_ZAddressWeakBadMask")),
        };
        let bad_bits = bad_bits.and_then(|at| source.u64(at));
        // Without it any of them may be old.
        self.bad_bits = bad_bits.unwrap_or(u64::MAX);
        // On Arm the colours of generations are other ones.
        let is_known = self.colour_shift.is_none() || cfg!(target_arch = "x86_64");
        self.views = hotspot.z_view_starts();
        self.forwardings = bad_bits.filter(|_| is_known).and_then(|_| hotspot.z_forwardings());
        Some(())
    }

    /// Where ZGC maps the heap; none with other collectors.
    #[inline]
    pub(crate) fn views(&self) -> Option<&ZViews> {
        self.views.as_ref()
    }

    /// Where objects were moved to, for a reference that was written before.
    #[inline]
    pub(crate) fn forwardings_of(&self, word: u64) -> Option<&Forwardings> {
        self.forwardings.as_ref().filter(|_| word & self.bad_bits != 0)
    }

    /// Whether the object may have moved since this was written, and its new address is unknown: another object may lie where it leads.
    pub(crate) fn may_be_old(&self, word: u64) -> bool {
        self.forwardings.is_none() && word & self.bad_bits != 0
    }

    /// The object that a whole word refers to, where it is now; `None` for null, and where that is unknown.
    pub(crate) fn of_word(&self, source: &dyn MemorySource, word: u64) -> Option<u64> {
        let address = Some(self.without_colour(word)).filter(|address| *address != 0)?;
        match self.forwardings.filter(|_| word & self.bad_bits != 0) {
            Some(forwardings) => {
                let moved = self.generation_of(source, &forwardings, word)?;
                forwardings.now_at(source, moved, address)
            }
            None => Some(address),
        }
    }

    /// In which generation an object was moved to which an old reference leads, as the JVM finds out (`ZBarrier::remap_generation`).
    ///
    /// The four bits stand for the phases of both generations at the time: bit 0 of their number for the young, bit 1 for the old one.
    /// Where neither is today's, a reference from old object to old object shows it by itself; the page of any other belongs to one of them.
    fn generation_of(
        &self,
        source: &dyn MemorySource,
        forwardings: &Forwardings,
        word: u64,
    ) -> Option<Moved> {
        if self.colour_shift.is_none() {
            return Some(Moved::Young);
        }
        let phases = |bits: u64| {
            let bits = bits >> REMAPPED_BIT & 0xf;
            bits.is_power_of_two().then(|| bits.trailing_zeros())
        };
        let differing = phases(word)? ^ phases(!self.bad_bits)?;
        let is_young = || forwardings.has(source, Moved::Young, self.without_colour(word));
        let is_remembered = word & REMEMBERED_BITS == REMEMBERED_BITS;
        Some(match differing {
            0b01 => Moved::Young,
            0b10 => Moved::Old,
            _ if is_remembered => Moved::Old,
            _ if is_young()? => Moved::Young,
            _ => Moved::Old,
        })
    }

    /// Bytes of a reference in an object.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// A reference as it stands in an object, without what the collector notes in it. (Before it had generations, ZGC's colours chose
    /// one of three views of the same object: the word is an address as it is.)
    ///
    /// Folklore: on x86-64 the address of a coloured reference of generational ZGC begins behind the one of four bits (12 to 15) that says
    /// after which relocations it was written, so that each reference has a shift of its own; the one that the JVM exports is that of those
    /// written since the last relocation started (`ZPointerLoadShiftTable` in `zAddress.hpp`). On Arm it is 16 for all. Held by:
    /// `every_thread_that_the_jvm_prints_has_its_role`.
    pub fn without_colour(&self, word: u64) -> u64 {
        let Some(todays) = self.colour_shift else { return word };
        let remapped = word >> REMAPPED_BIT & 0xf;
        let own = if cfg!(target_arch = "x86_64") && remapped.is_power_of_two() {
            REMAPPED_BIT + 1 + remapped.trailing_zeros()
        } else {
            todays
        };
        word >> own
    }

    /// Whether a word is a reference of ZGC with generations: it has a colour, and leads into the heap.
    ///
    /// A compact header has other bits, unless its object is locked and has a hash.
    #[inline]
    pub(crate) fn is_coloured(&self, word: u64) -> bool {
        self.colour_shift.is_some()
            && word & RESERVED_BITS == 0
            && (word >> REMAPPED_BIT & 0xf).is_power_of_two()
            && self.views.is_some_and(|views| views.offset_of(self.without_colour(word)).is_some())
    }

    /// The object to which a word in an object refers where the collector colours no references; for null an address of none.
    pub fn object_of(&self, word: u64) -> u64 {
        self.narrow.map_or(word, |(base, shift)| base.wrapping_add(word << shift))
    }

    /// What refers to an object, without colour; `None` where nothing can.
    pub fn word_of(&self, object: u64) -> Option<u64> {
        match self.narrow {
            None => Some(object),
            Some((base, shift)) => {
                let word = object.checked_sub(base)? >> shift;
                u32::try_from(word).ok().map(u64::from)
            }
        }
    }
}

impl Hotspot<'_> {
    /// How references between objects are stored; `None` where this release does not export it.
    pub fn references(&self) -> Option<References> {
        References::of(self)
    }

    /// The object that a reference in a field of another object refers to; `None` for null.
    pub(crate) fn referred(&self, references: &References, place: u64) -> Option<u64> {
        match references.narrow {
            None => references.of_word(self.source(), self.source().word(place)?),
            Some((base, shift)) => {
                let narrow = u64::from(self.source().u32(place)?);
                if narrow == 0 { None } else { base.checked_add(narrow << shift) }
            }
        }
    }

    /// Offset of a Java field, which the JVM keeps in a variable of this name.
    pub(crate) fn java_offset(&self, variable: &str) -> Option<u64> {
        let offset = self.source().u32(self.symbols().address(variable)?)?;
        // Negative ones, and 0, mean that the class is not loaded yet, or has no such field.
        Some(u64::from(offset)).filter(|offset| (4..FIELD_OFFSET_MAX).contains(offset))
    }

    /// Where a `java.lang.String` refers to the array of its characters.
    pub(crate) fn string_value(&self, string: u64) -> Option<u64> {
        let value = self
            .string_offset("_ZN16java_lang_String13_value_offsetE", "_ZN16java_lang_String12value_offsetE")?;
        string.checked_add(value)
    }

    /// JDK 14 put the underscores in front.
    fn string_offset(&self, new: &str, old: &str) -> Option<u64> {
        self.java_offset(new).or_else(|| self.java_offset(old))
    }

    /// The text of a `java.lang.String`, its first 4 KiB.
    pub(crate) fn java_string(&self, references: &References, string: u64) -> Option<String> {
        let array = self.referred(references, self.string_value(string)?)?;
        let (length_at, elements_at) = self.byte_array_offsets()?;
        let length = u64::from(self.source().u32(array.checked_add(length_at)?)?);
        // JDK 8 has no coder: the array is one of characters.
        let coder = self
            .string_offset("_ZN16java_lang_String13_coder_offsetE", "_ZN16java_lang_String12coder_offsetE");
        let coder = match coder {
            Some(offset) => self.source().u8(string.checked_add(offset)?)?,
            None => UTF16,
        };
        let is_characters =
            self.release().is_some_and(|release| release.jvm.string_elements == StringElements::Char);
        let bytes = if is_characters { length.saturating_mul(2) } else { length }.min(TEXT_BYTES_MAX);
        let mut text = vec![0; bytes as usize];
        self.source().read(array.checked_add(elements_at)?, &mut text).ok()?;
        Some(if coder == UTF16 {
            let units = text.as_chunks::<2>().0.iter().map(|pair| u16::from_le_bytes(*pair));
            char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
        } else {
            text.iter().map(|byte| char::from(*byte)).collect()
        })
    }

    /// Where an array of bytes has its length and its elements.
    ///
    /// Folklore: behind a full class pointer and the length there was a gap of four bytes until JDK 22. Held by:
    /// `threads_are_those_that_the_jvm_prints`.
    fn byte_array_offsets(&self) -> Option<(u64, u64)> {
        if self.symbols().word_bytes() == 4 {
            return Some((8, 12));
        }
        if self.flags().bool("UseCompactObjectHeaders") == Some(true) {
            return Some((8, 12));
        }
        if self.flags().bool("UseCompressedClassPointers") != Some(false) {
            return Some((12, 16));
        }
        let is_at_word = self.release()?.layout.array_elements == ArrayElements::AtWord;
        Some((16, if is_at_word { 24 } else { 20 }))
    }
}
