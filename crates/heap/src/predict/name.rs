//! Classes by the names that people type.

use crate::{ClassHistogram, ClassIndex};
use assay_text::near;

/// Names that are offered when one is not found.
const NEAR_NAMES_MAX: usize = 3;

/// A heap has no class of a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no class {name}{}", nearest(.near))]
pub struct ClassNotFound {
    /// What was asked for.
    pub name: String,
    /// Names that it has and that are like it, the likest first.
    pub near: Vec<String>,
}

fn nearest(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) }
}

/// The class of a name; of several (each loader may have one) that with most objects. `java/lang/String` is understood as
/// `java.lang.String` is, and so is a name without its package if only one package has it.
///
/// # Errors
/// When there is none; the error names those that are like it.
pub fn find_class(histogram: &ClassHistogram, name: &str) -> Result<ClassIndex, ClassNotFound> {
    let wanted = name.trim().replace('/', ".");
    let by_objects = |index: &ClassIndex| {
        let class = &histogram.classes[*index as usize];
        (class.instances, std::cmp::Reverse(*index))
    };
    if let Some(index) = with(histogram, |have| have == wanted).max_by_key(by_objects) {
        return Ok(index);
    }
    // `Map.Entry` is how Java's own texts spell `Map$Entry`.
    let with_dots = with(histogram, |have| have.contains('$') && have.replace('$', ".") == wanted);
    if let Some(index) = with_dots.max_by_key(by_objects) {
        return Ok(index);
    }
    let mut without_package = with(histogram, |have| !wanted.contains('.') && simple_name(have) == wanted);
    if let (Some(index), None) = (without_package.next(), without_package.next()) {
        return Ok(index);
    }
    Err(not_found(name, histogram.classes.iter().map(|class| &*class.name)))
}

/// That there is no such class among these, and which are like it.
pub(crate) fn not_found<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> ClassNotFound {
    let wanted = name.trim().replace('/', ".");
    let near = near::alike(&wanted, names, simple_name, NEAR_NAMES_MAX);
    let near = near.into_iter().map(str::to_owned).collect();
    ClassNotFound { name: name.to_owned(), near }
}

fn with(histogram: &ClassHistogram, is: impl Fn(&str) -> bool) -> impl Iterator<Item = ClassIndex> {
    let indices = histogram.classes.iter().enumerate().filter(move |(_, class)| is(&class.name));
    indices.map(|(index, _)| index as ClassIndex)
}

fn simple_name(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, simple)| simple)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ClassShape;

    fn histogram(names: &[&str]) -> ClassHistogram {
        let class = |name: &&str| ClassShape {
            name: (*name).into(),
            super_class: None,
            fields: Vec::new(),
            statics: Vec::new(),
            instances: u64::from(name.ends_with('s')),
            arrays: None,
            has_mirror: true,
        };
        ClassHistogram { classes: names.iter().map(class).collect(), ..ClassHistogram::default() }
    }

    #[test]
    fn a_class_is_found_by_its_name_however_it_is_spelt() {
        let histogram = histogram(&["java.lang.String", "java.util.HashMap$Node", "a.Node", "b.Node"]);
        assert_eq!(find_class(&histogram, "java.lang.String"), Ok(0));
        assert_eq!(find_class(&histogram, "java/util/HashMap$Node"), Ok(1));
        assert_eq!(find_class(&histogram, "java.util.HashMap.Node"), Ok(1));
        assert_eq!(find_class(&histogram, "HashMap$Node"), Ok(1));
        let both = find_class(&histogram, "Node").expect_err("two packages have it");
        assert_eq!(both.near[..2], ["a.Node".to_owned(), "b.Node".to_owned()]);
    }

    #[test]
    fn a_misspelt_name_brings_the_right_one() {
        let histogram =
            histogram(&["java.util.HashMap", "java.util.HashMap$Node", "java.lang.String", "byte[]"]);
        let error = find_class(&histogram, "java.util.HashMap$Nod").expect_err("no such class");
        assert_eq!(error.near[0], "java.util.HashMap$Node");
        assert!(error.to_string().contains("did you mean java.util.HashMap$Node"), "{error}");
        assert_eq!(find_class(&histogram, "zzz").expect_err("nothing like it").to_string(), "no class zzz");
    }

    #[test]
    fn of_two_loaders_classes_the_one_with_objects_is_meant() {
        let mut histogram = histogram(&["a.B", "a.B"]);
        histogram.classes[1].instances = 5;
        assert_eq!(find_class(&histogram, "a.B"), Ok(1));
    }
}
