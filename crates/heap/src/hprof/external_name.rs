//! Names of classes as people and `jcmd PID GC.class_histogram` spell them, from the spellings in dumps.

use crate::PrimitiveKind;

/// A class's name.
pub(super) struct ExternalName {
    /// `java.util.HashMap$Node`, `byte[]`, `java.lang.String[]`.
    pub(super) name: String,
    /// Elements of an array class.
    pub(super) element: Option<Element>,
}

/// Elements of an array class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    Primitive(PrimitiveKind),
    Reference,
}

/// Reads `java/util/HashMap$Node`, `[B`, `[[Ljava/lang/String;` (HotSpot) and `java.lang.String[]` (Android).
///
/// Hidden classes have a `+` before their address inside the JVM, and a `/` outside:
/// `Server$$Lambda/0x00007f6cb8000a08`.
pub(super) fn external_name(internal: &[u8]) -> ExternalName {
    let text = String::from_utf8_lossy(internal);
    let dimensions = text.bytes().take_while(|byte| *byte == b'[').count();
    if dimensions == 0 {
        let name = dotted(&text);
        let stem = name.strip_suffix("[]");
        let element = stem.map(|stem| {
            let primitive = PrimitiveKind::ALL.into_iter().find(|kind| kind.name() == stem);
            primitive.map_or(Element::Reference, Element::Primitive)
        });
        return ExternalName { name, element };
    }
    let of = &text[dimensions..];
    let primitive = PrimitiveKind::ALL.into_iter().find(|kind| of.as_bytes() == [signature(*kind)]);
    let stem = match primitive {
        Some(kind) => kind.name().to_owned(),
        None => dotted(of.strip_prefix('L').and_then(|of| of.strip_suffix(';')).unwrap_or(of)),
    };
    let element = match primitive {
        Some(kind) if dimensions == 1 => Element::Primitive(kind),
        _ => Element::Reference,
    };
    ExternalName { name: stem + &"[]".repeat(dimensions), element: Some(element) }
}

/// The letter of a type in signatures.
pub(super) fn signature(kind: PrimitiveKind) -> u8 {
    match kind {
        PrimitiveKind::Boolean => b'Z',
        PrimitiveKind::Char => b'C',
        PrimitiveKind::Float => b'F',
        PrimitiveKind::Double => b'D',
        PrimitiveKind::Byte => b'B',
        PrimitiveKind::Short => b'S',
        PrimitiveKind::Int => b'I',
        PrimitiveKind::Long => b'J',
    }
}

fn dotted(internal: &str) -> String {
    let (stem, address) = match internal.rsplit_once('+') {
        Some((stem, address)) if is_address(address) => (stem, Some(address)),
        _ => match internal.rsplit_once('/') {
            Some((stem, address)) if is_address(address) => (stem, Some(address)),
            _ => (internal, None),
        },
    };
    let mut name = stem.replace('/', ".");
    if let Some(address) = address {
        name.push('/');
        name.push_str(address);
    }
    name
}

fn is_address(text: &str) -> bool {
    text.strip_prefix("0x").is_some_and(|hex| !hex.is_empty() && hex.bytes().all(|b| b.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_spelt_as_in_class_histograms() {
        let cases = [
            ("java/util/HashMap$Node", "java.util.HashMap$Node", None),
            ("[B", "byte[]", Some(Element::Primitive(PrimitiveKind::Byte))),
            ("[[J", "long[][]", Some(Element::Reference)),
            ("[Ljava/lang/String;", "java.lang.String[]", Some(Element::Reference)),
            ("[[Ljava.lang.String;", "java.lang.String[][]", Some(Element::Reference)),
            ("java.lang.String[]", "java.lang.String[]", Some(Element::Reference)),
            ("int[]", "int[]", Some(Element::Primitive(PrimitiveKind::Int))),
            ("a/B$$Lambda$14+0x0000000800c03000", "a.B$$Lambda$14/0x0000000800c03000", None),
            ("a/B$$Lambda/0x0000000800c03000", "a.B$$Lambda/0x0000000800c03000", None),
            ("[La/B$$Lambda+0x0a;", "a.B$$Lambda/0x0a[]", Some(Element::Reference)),
            ("B+", "B+", None),
            ("[", "[]", Some(Element::Reference)),
            ("", "", None),
        ];
        for (internal, external, element) in cases {
            let read = external_name(internal.as_bytes());
            assert_eq!((read.name.as_str(), read.element), (external, element), "{internal}");
        }
    }
}
