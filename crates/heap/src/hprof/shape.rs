//! The JDK's feature release by the fields of its classes, for dumps that do not have its version.

use crate::{ClassHistogram, ClassShape};

/// A field that came with a release (read in the class's source; 6, 11, 17 and 25 are held by tests).
const SINCE: [(&str, &str, u32); 5] = [
    ("java.lang.Class", "modifiers", 25),
    ("java.lang.Thread", "holder", 19),
    ("java.lang.Class", "classData", 15),
    ("java.lang.String", "hashIsZero", 13),
    ("java.lang.String", "coder", 9),
];
/// The first release without `offset` in its strings (7u6).
const WITHOUT_OFFSET: u32 = 7;
const OLDEST: u32 = 6;

/// The oldest release that has these fields, and the newest one; `None` for the newest when it is not known.
pub(super) fn release_by_shape(histogram: &ClassHistogram) -> Option<(u32, Option<u32>)> {
    let string = class(histogram, "java.lang.String")?;
    let mut newest = None;
    for (name, field, since) in SINCE {
        if class(histogram, name).is_some_and(|class| has(class, field)) {
            return Some((since, newest));
        }
        newest = Some(since - 1);
    }
    if !has(string, "value") {
        return None;
    }
    Some(if has(string, "offset") { (OLDEST, Some(WITHOUT_OFFSET)) } else { (WITHOUT_OFFSET, newest) })
}

fn class<'a>(histogram: &'a ClassHistogram, name: &str) -> Option<&'a ClassShape> {
    histogram.classes.iter().find(|class| &*class.name == name)
}

fn has(class: &ClassShape, name: &str) -> bool {
    class.fields.iter().any(|field| &*field.name == name)
}

/// Fills in the release, and says so.
pub(super) fn name_release(histogram: &mut ClassHistogram, source: &str) {
    if histogram.jdk_version.is_some() || histogram.is_android {
        return;
    }
    histogram.jdk_by_shape = release_by_shape(histogram);
    if let (Some(shape), Some(jdk)) = (histogram.jdk_text(), histogram.jdk()) {
        let what = format!(
            "the JDK's version is not in the dump: its classes have the shape of JDK {shape}, read as {jdk}"
        );
        histogram.problems.push(assay_model::Problem::new(source, what));
    }
}
