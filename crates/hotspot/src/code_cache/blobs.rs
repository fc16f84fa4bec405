//! The kinds of blobs of the code cache.

use super::{BlobKind, CodeBlob};
use crate::Hotspot;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// A blob's name; nearly all are shorter.
const NAME_BYTES_MAX: usize = 64;
/// Bytes of a blob's header that are read: 352 in JDK 17.
const HEADER_BYTES_MAX: u64 = 512;
/// Names of blobs are constants of libjvm: as many as it has kinds of stubs.
const NAMES_MAX: usize = 10_000;

/// The JVM's classes of blobs, by the spelling of JDK 23's kinds and of the classes before.
const CLASSES: [(&str, BlobKind); 18] = [
    ("Nmethod", BlobKind::Method),
    ("nmethod", BlobKind::Method),
    ("Adapter", BlobKind::Adapter),
    ("AdapterBlob", BlobKind::Adapter),
    ("MHAdapter", BlobKind::Adapter),
    ("MethodHandlesAdapterBlob", BlobKind::Adapter),
    ("Vtable", BlobKind::Stub),
    ("VtableBlob", BlobKind::Stub),
    ("RuntimeStub", BlobKind::Stub),
    ("Deoptimization", BlobKind::Stub),
    ("DeoptimizationBlob", BlobKind::Stub),
    ("Safepoint", BlobKind::Stub),
    ("SafepointBlob", BlobKind::Stub),
    ("ExceptionBlob", BlobKind::Stub),
    ("UncommonTrapBlob", BlobKind::Stub),
    ("Upcall", BlobKind::Stub),
    ("OptimizedEntryBlob", BlobKind::Stub),
    ("UpcallStub", BlobKind::Stub),
];

/// Where blobs have what is asked.
pub(super) struct BlobLayout {
    name: u64,
    kind: Option<u64>,
    /// Kinds by number, where the release has such a byte.
    kinds: Vec<(u8, BlobKind)>,
    /// Pointers to parts in malloc's heap of every blob, and of compiled methods only.
    parts: Vec<u64>,
    method_parts: Vec<u64>,
    /// Names by address, since thousands of blobs share one.
    names: Mutex<HashMap<u64, Arc<str>>>,
}

impl BlobLayout {
    pub(super) fn of(hotspot: &Hotspot<'_>) -> Option<BlobLayout> {
        let structs = hotspot.structs();
        let constant = |class: &str| structs.constant(&format!("CodeBlobKind::{class}"));
        let kinds =
            CLASSES.iter().filter_map(|(class, kind)| Some((u8::try_from(constant(class)?).ok()?, *kind)));
        let of_type = |type_name, fields: &[&'static str]| {
            fields.iter().filter_map(|field| structs.offset(type_name, field)).collect()
        };
        Some(BlobLayout {
            name: structs.offset("CodeBlob", "_name")?,
            kind: structs.offset("CodeBlob", "_kind"),
            kinds: kinds.collect(),
            parts: of_type("CodeBlob", &["_oop_maps", "_mutable_data"]),
            method_parts: of_type("nmethod", &["_immutable_data", "_exception_cache"]),
            names: Mutex::default(),
        })
    }

    /// The blob in a block of a heap; `at` is where it begins behind the block's header.
    pub(super) fn blob(&self, hotspot: &Hotspot<'_>, addresses: Range<u64>, at: u64) -> Option<CodeBlob> {
        let source = hotspot.source();
        let bytes = addresses.end.checked_sub(at)?.min(HEADER_BYTES_MAX);
        let mut header = [0; HEADER_BYTES_MAX as usize];
        let mut header = &mut header[..bytes as usize];
        if source.read(at, header).is_err() {
            // A compiler's buffer may reach onto a page that nothing was written to yet: its header is before that page.
            let page_bytes = source.pages().page_bytes();
            header = &mut header[..bytes.min(page_bytes - at % page_bytes) as usize];
            source.read(at, header).ok()?;
        }
        let word = |offset: &u64| {
            let offset = usize::try_from(*offset).ok()?;
            let word = header.get(offset..offset.checked_add(source.word_bytes() as usize)?)?;
            Some(word.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)))
        };
        let name = self.name_at(hotspot, word(&self.name)?);
        let class = match self.kind {
            Some(kind) => {
                let number = *header.get(usize::try_from(kind).ok()?)?;
                self.kinds.iter().find(|(known, _)| *known == number).map(|(_, kind)| *kind)
            }
            None => class_kind(hotspot.symbols().class_of_vtable(word(&0)?)),
        };
        let kind = kind_of(class, &name);
        let mut malloc_parts: Vec<_> = self.parts.iter().filter_map(word).collect();
        if matches!(kind, BlobKind::Method | BlobKind::NativeMethod) {
            malloc_parts.extend(self.method_parts.iter().filter_map(word));
        }
        Some(CodeBlob { addresses, kind, malloc_parts, name })
    }

    fn name_at(&self, hotspot: &Hotspot<'_>, address: u64) -> Arc<str> {
        let Ok(mut names) = self.names.lock() else { return Arc::from("") };
        if let Some(name) = names.get(&address) {
            return Arc::clone(name);
        }
        let source = hotspot.source();
        let text = hotspot.symbols().c_string(source, address, NAME_BYTES_MAX);
        let name: Arc<str> = text.unwrap_or_default().into();
        if names.len() < NAMES_MAX {
            names.insert(address, Arc::clone(&name));
        }
        name
    }
}

fn class_kind(class: Option<&str>) -> Option<BlobKind> {
    CLASSES.iter().find(|(known, _)| Some(*known) == class).map(|(_, kind)| *kind)
}

/// The class where it is known, else what the name says. Native wrappers are methods to the JVM, and compilers' work
/// buffers are of the same class as the interpreter: there only the name distinguishes them.
///
/// Held by: `kinds_are_told_apart_by_class_and_name`.
fn kind_of(class: Option<BlobKind>, name: &str) -> BlobKind {
    match (class, name) {
        (None | Some(BlobKind::Method), "native nmethod") => BlobKind::NativeMethod,
        (Some(kind), _) => kind,
        (None, "nmethod") => BlobKind::Method,
        (None, "I2C/C2I adapters" | "MethodHandles adapters") => BlobKind::Adapter,
        (None, name) if BUFFERS.iter().any(|part| name.contains(part)) => BlobKind::Buffer,
        (None, _) => BlobKind::Stub,
    }
}

/// Names of compilers' work buffers.
const BUFFERS: [&str; 2] = ["CodeBuffer", "Compile::"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_apart_by_class_and_name() {
        let method = Some(BlobKind::Method);
        assert_eq!(kind_of(method, "nmethod"), BlobKind::Method);
        assert_eq!(kind_of(method, "native nmethod"), BlobKind::NativeMethod);
        assert_eq!(kind_of(method, "a compiler's own name"), BlobKind::Method);
        assert_eq!(kind_of(None, "native nmethod"), BlobKind::NativeMethod);
        assert_eq!(kind_of(class_kind(Some("BufferBlob")), "Interpreter"), BlobKind::Stub);
        assert_eq!(kind_of(None, "C1 temporary CodeBuffer"), BlobKind::Buffer);
        assert_eq!(kind_of(class_kind(Some("VtableBlob")), "vtable chunks"), BlobKind::Stub);
    }
}
