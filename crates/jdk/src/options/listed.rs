//! What a JVM lists with `-XX:+PrintFlagsFinal`.

use super::FlagState;
use std::collections::BTreeMap;

/// A flag that a JVM has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedFlag {
    /// Its type: `bool`, `intx`, `ccstr`...
    pub kind: String,
    /// Its value; empty for a text that is not set.
    pub value: String,
    /// What is needed to set it.
    pub state: FlagState,
    /// Whether nobody, and not the JVM itself either, has set it.
    pub is_default: bool,
}

/// The flags of such a list, by name.
///
/// ```text
///     bool UseG1GC        = true           {product} {ergonomic}      JDK 9 and later
///     bool UseG1GC       := true           {product}                  JDK 8
/// ```
pub fn listed_flags(text: &str) -> BTreeMap<String, ListedFlag> {
    text.lines().filter_map(listed_flag).collect()
}

fn listed_flag(line: &str) -> Option<(String, ListedFlag)> {
    let (head, tail) = line.split_once('=')?;
    let (head, is_set) = match head.strip_suffix(':') {
        Some(head) => (head, true),
        None => (head, false),
    };
    let mut words = head.split_whitespace();
    let (kind, name) = (words.next()?, words.next()?);
    // Texts may hold anything, braces included; the text in the last ones is the JVM's.
    let (rest, last) = braces(tail)?;
    let (value, kinds, origin) = match braces(rest) {
        Some((value, kinds)) => (value, kinds, Some(last)),
        None => (rest, last, None),
    };
    let has = |word: &str| kinds.split_whitespace().any(|of| of == word);
    let state = if has("diagnostic") {
        FlagState::Diagnostic
    } else if has("experimental") {
        FlagState::Experimental
    } else if has("develop") || has("notproduct") {
        FlagState::Develop
    } else {
        FlagState::Product
    };
    let is_default = origin.map_or(!is_set, |origin| origin == "default");
    let flag = ListedFlag { kind: kind.to_owned(), value: value.trim().to_owned(), state, is_default };
    words.next().is_none().then(|| (name.to_owned(), flag))
}

/// What stands before the last braces, and in them.
fn braces(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_end().strip_suffix('}')?;
    let (before, inside) = text.rsplit_once('{')?;
    Some((before, inside))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_both_forms_are_read() {
        let text = "[Global flags]\n\
            \x20    bool UseG1GC      = true      {product} {ergonomic}\n\
            \x20   ccstr OnError      = a {b} c   {product} {command line}\n\
            \x20   ccstr ErrorFile    =           {product} {default}\n\
            \x20    intx Stress       = 7         {C2 diagnostic} {default}\n\
            \x20    bool UseSerialGC := true      {product}\n\
            openjdk version \"17\"\n";
        let flags = listed_flags(text);
        let of = |name: &str| {
            let flag = &flags[name];
            (flag.kind.as_str(), flag.value.as_str(), flag.state, flag.is_default)
        };
        assert_eq!(flags.len(), 5);
        assert_eq!(of("UseG1GC"), ("bool", "true", FlagState::Product, false));
        assert_eq!(of("OnError"), ("ccstr", "a {b} c", FlagState::Product, false));
        assert_eq!(of("ErrorFile"), ("ccstr", "", FlagState::Product, true));
        assert_eq!(of("Stress"), ("intx", "7", FlagState::Diagnostic, true));
        assert_eq!(of("UseSerialGC"), ("bool", "true", FlagState::Product, false));
    }
}
