//! Cookies that a scenario gives its users: those of `Cookie` headers of operations, which each user has when a session begins.

use crate::operation::Operation;
use crate::template::Template;
use std::collections::BTreeMap;

/// The headers of all operations, each once.
pub(crate) fn of(operations: &[Operation]) -> Vec<Template> {
    let mut all: Vec<Template> = Vec::new();
    for cookies in operations.iter().filter_map(|operation| operation.cookies.as_ref()) {
        if !all.contains(cookies) {
            all.push(cookies.clone());
        }
    }
    all
}

/// A user has one value of a cookie: operations that say others contradict each other.
pub(crate) fn check(operations: &[Operation], wrong: &mut dyn FnMut(usize, String)) {
    let mut known: BTreeMap<Vec<u8>, (&str, Template)> = BTreeMap::new();
    for (at, operation) in operations.iter().enumerate() {
        let Some(cookies) = &operation.cookies else { continue };
        for (name, value) in cookies.pairs() {
            let (first, other) =
                known.entry(name.clone()).or_insert_with(|| (&operation.name, value.clone()));
            if *other != value {
                let name = String::from_utf8_lossy(&name);
                wrong(
                    at,
                    format!(
                        "operation {:?}: its cookie {name:?} has another value than in operation {first:?}. A \
                            user has all cookies from the start of its session, and one of each name",
                        operation.name
                    ),
                );
            }
        }
    }
}
