//! What a JVM lists with `-XX:+PrintFlagsFinal` and `-XX:+PrintFlagsRanges`.

use super::history::{FlagState, ListedRange};
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
    /// Whether an option has set it; of JDK 8, whether anything has.
    pub is_given: bool,
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
    let is_given = origin.map_or(is_set, |origin| origin == "command line");
    let flag =
        ListedFlag { kind: kind.to_owned(), value: value.trim().to_owned(), state, is_default, is_given };
    words.next().is_none().then(|| (name.to_owned(), flag))
}

/// What stands before the last braces, and in them.
fn braces(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_end().strip_suffix('}')?;
    let (before, inside) = text.rsplit_once('{')?;
    Some((before, inside))
}

/// The ranges of such a list, by name; flags without bounds are not in it.
///
/// ```text
///    uintx MaxTenuringThreshold        [ 0      ...       16 ]              {product} {default}
///      int ActiveProcessorCount        [        ...          ]              {product} {default}
/// ```
pub fn listed_ranges(text: &str) -> BTreeMap<String, ListedRange> {
    text.lines().filter_map(listed_range).collect()
}

fn listed_range(line: &str) -> Option<(String, ListedRange)> {
    let (head, tail) = line.split_once('[')?;
    let mut words = head.split_whitespace();
    let (kind, name) = (words.next()?, words.next()?);
    let (low, high) = tail.split_once(']')?.0.split_once("...")?;
    // The largest number of its type is no bound of its own, and has 309 digits.
    let bound = |text: &str| Some(text.trim()).filter(|text| text.len() < 40).unwrap_or_default().to_owned();
    let range = ListedRange { low: bound(low), high: bound(high) };
    let is_bounded = !range.low.is_empty() || !range.high.is_empty();
    (words.next().is_none() && kind != "bool" && is_bounded).then(|| (name.to_owned(), range))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_and_a_flag_without_bounds_has_none() {
        let huge = "9".repeat(309);
        let text = format!(
            "[Global flags ranges]\n\
            \x20  uintx MaxTenuringThreshold  [ 0    ...   16 ]   {{product}} {{default}}\n\
            \x20    int ActiveProcessorCount  [      ...      ]   {{product}} {{default}}\n\
            \x20 double Scaling [ 0.000 ... {huge}.000 ] {{product}} {{default}}\n\
            a [ b ] c"
        );
        let ranges = listed_ranges(&text);
        let range = |low: &str, high: &str| ListedRange { low: low.to_owned(), high: high.to_owned() };
        let expected = [("MaxTenuringThreshold", range("0", "16")), ("Scaling", range("0.000", ""))];
        assert_eq!(ranges, expected.map(|(name, range)| (name.to_owned(), range)).into());
    }

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
