//! OpenJ9: an estimate, from what its sources say; no JVM of it was at hand to hold it against.
//!
//! The header is a class pointer. Each object has a lock word, which is a field that `java.lang.Object` begins with, but for
//! arrays and some classes that its default options name. Fields shorter than 4 bytes take 4. A class begins where the one
//! above ends; what 8-byte alignment leaves is filled by a field of 4 bytes. No object is shorter than 16 bytes. Static
//! fields lie outside the heap.
//!
//! Left out: the slot that an object grows by when it is moved after its identity hash was asked for; the link of objects
//! with a finaliser; `@Contended`; the data address of 8 bytes that arrays have under the
//! balanced collector.

use super::Sizes;
use super::fields::{Contention, FieldToPlace, InheritedLayout};

/// No object is shorter.
pub const OBJECT_BYTES_MIN: u64 = 16;
const FIELD_BYTES_MIN: u64 = 4;

/// Classes without a lock word by default: these and others of `java.lang.invoke` that JDK 8 alone has.
const WITHOUT_LOCK_WORD: [&str; 6] = [
    "java.lang.String",
    "java.lang.invoke.MethodHandle",
    "java.lang.invoke.MethodType",
    "java.util.HashMap$Entry",
    "java.util.Hashtable$Entry",
    "java.util.MapEntry",
];

/// Makes fields as long as OpenJ9 does, and adds a lock word. Says whether the class starts anew: it does not inherit that
/// of `java.lang.Object`, right below which it is.
pub fn adapt(
    class: &str,
    ground: &mut InheritedLayout,
    fields: &mut Vec<FieldToPlace<'_>>,
    sizes: &Sizes,
) -> bool {
    for field in fields.iter_mut() {
        field.bytes = field.bytes.max(FIELD_BYTES_MIN);
    }
    if WITHOUT_LOCK_WORD.contains(&class) {
        let starts_anew = ground.has_lock_word;
        if starts_anew {
            *ground = InheritedLayout::header(sizes);
        }
        return starts_anew;
    }
    if !ground.has_lock_word {
        ground.has_lock_word = true;
        fields.push(FieldToPlace {
            name: "lock word",
            kind: if sizes.reference_bytes == 4 { "int" } else { "long" },
            bytes: sizes.reference_bytes,
            is_reference: false,
            is_injected: true,
            contention: Contention::None,
        });
    }
    false
}
