//! Tags of a stream that is not a document: several roots, none of them closed, messages of the JVM in between. J9 writes a tag, or a
//! few, on a line; a tag is never cut by the end of a line, save when the JVM is killed.

/// A piece of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinePart<'a> {
    /// `<name ..>` or `<name .. />`.
    Open { name: &'a str, attributes: Attributes<'a>, is_empty: bool },
    /// `</name>`
    Close(&'a str),
    /// `<?xml .. ?>` or a comment.
    Aside,
    /// What is not a tag, or only the beginning of one.
    Text(&'a str),
}

/// `id="12" type="scavenge"`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Attributes<'a>(&'a str);

impl<'a> Attributes<'a> {
    /// The value of an attribute, as it is written.
    pub fn get(&self, name: &str) -> Option<&'a str> {
        self.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// As [`Self::get`] of each of these names, in one walk: most tags are of memory, with several that are wanted.
    pub fn values<const N: usize>(&self, names: [&str; N]) -> [Option<&'a str>; N] {
        let mut values = [None; N];
        for (key, value) in *self {
            if let Some(at) = names.iter().position(|name| *name == key) {
                values[at].get_or_insert(value);
                if values.iter().all(Option::is_some) {
                    break;
                }
            }
        }
        values
    }
}

impl<'a> IntoIterator for Attributes<'a> {
    type Item = (&'a str, &'a str);
    type IntoIter = Pairs<'a>;
    fn into_iter(self) -> Pairs<'a> {
        Pairs(self.0)
    }
}

/// Names and values in their order.
#[derive(Debug)]
pub(super) struct Pairs<'a>(&'a str);

impl<'a> Iterator for Pairs<'a> {
    type Item = (&'a str, &'a str);
    fn next(&mut self) -> Option<Self::Item> {
        // Names and values have a few bytes: a loop has ended before a search by vectors is set up.
        let equals = self.0.bytes().position(|b| b == b'=')?;
        let (name, value) = (trimmed(&self.0[..equals]), &self.0[equals + 1..]);
        let value = if value.starts_with('"') { value } else { value.trim_start() };
        let quote = *value.as_bytes().first().filter(|b| matches!(b, b'"' | b'\''))?;
        let end = value.bytes().skip(1).position(|b| b == quote)? + 1;
        self.0 = &value[end + 1..];
        Some((name, &value[1..end]))
    }
}

/// As `trim`, which decodes characters: nearly always there is one blank before a name and none behind it.
fn trimmed(text: &str) -> &str {
    let name = text.strip_prefix(' ').unwrap_or(text);
    let is_bare = |end: Option<&u8>| end.is_some_and(u8::is_ascii_graphic);
    if is_bare(name.as_bytes().first()) && is_bare(name.as_bytes().last()) { name } else { name.trim() }
}

/// Whether nothing but blanks is in a text: mostly it is the indentation.
pub(super) fn is_blank(text: &str) -> bool {
    text.bytes().all(|b| b == b' ') || text.trim().is_empty()
}

/// Takes the next piece off the front of a line.
pub(super) fn next<'a>(rest: &mut &'a str) -> Option<LinePart<'a>> {
    let text = *rest;
    if text.is_empty() {
        return None;
    }
    let Some(begin) = text.bytes().position(|b| b == b'<') else {
        *rest = "";
        return Some(LinePart::Text(text));
    };
    if begin > 0 {
        *rest = &text[begin..];
        return Some(LinePart::Text(&text[..begin]));
    }
    let (piece, behind) = tag(text).unwrap_or((LinePart::Text(text), ""));
    *rest = behind;
    Some(piece)
}

fn tag(text: &str) -> Option<(LinePart<'_>, &str)> {
    let inside = text.strip_prefix('<')?;
    if inside.starts_with("!--") {
        return inside.split_once("-->").map(|(_, behind)| (LinePart::Aside, behind));
    }
    let end = end_of_tag(inside.as_bytes())?;
    let (inside, behind) = (&inside[..end], &inside[end + 1..]);
    if inside.starts_with('?') {
        return Some((LinePart::Aside, behind));
    }
    if let Some(name) = inside.strip_prefix('/') {
        return Some((LinePart::Close(name.trim()), behind));
    }
    let (inside, is_empty) = inside.strip_suffix('/').map_or((inside, false), |inside| (inside, true));
    let name_end = inside.bytes().position(|b| b.is_ascii_whitespace()).unwrap_or(inside.len());
    let (name, attributes) = inside.split_at(name_end);
    let is_name =
        name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_')) && !name.is_empty();
    is_name.then_some((LinePart::Open { name, attributes: Attributes(attributes), is_empty }, behind))
}

/// The `>` that is not within quotes.
fn end_of_tag(bytes: &[u8]) -> Option<usize> {
    // Nearly always it is the first, and whole values in double quotes stand before it: counting is quicker than going from one to
    // the next.
    let first = memchr::memchr(b'>', bytes)?;
    let before = &bytes[..first];
    if memchr::memchr(b'\'', before).is_none() && memchr::memchr_iter(b'"', before).count().is_multiple_of(2)
    {
        return Some(first);
    }
    let mut at = 0;
    loop {
        at += memchr::memchr3(b'>', b'"', b'\'', &bytes[at..])?;
        match bytes[at] {
            b'>' => return Some(at),
            quote => at += 1 + memchr::memchr(quote, &bytes[at + 1..])? + 1,
        }
    }
}

/// A value without its entities.
pub(super) fn unescaped(value: &str) -> String {
    if !value.contains('&') {
        return value.to_owned();
    }
    let entities =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#xA;", " "), ("&amp;", "&")];
    entities.iter().fold(value.to_owned(), |text, (entity, plain)| text.replace(entity, plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(mut text: &str) -> Vec<LinePart<'_>> {
        std::iter::from_fn(|| next(&mut text)).collect()
    }

    #[test]
    fn tags_attributes_and_text_are_told_apart() {
        let found = pieces("JVMDUMP <a-b c=\"1 > 2\" d='x\"y' /></e> <?xml version=\"1.0\" ?><!-- <z> -->");
        let LinePart::Open { name, attributes, is_empty } = found[1] else { panic!("a tag: {found:?}") };
        assert_eq!(
            (name, is_empty, attributes.get("c"), attributes.get("d")),
            ("a-b", true, Some("1 > 2"), Some("x\"y"))
        );
        assert_eq!(attributes.get("e"), None);
        assert_eq!(attributes.values(["d", "e", "c"]), [Some("x\"y"), None, Some("1 > 2")]);
        assert_eq!(
            (found[0], found[2], found[3]),
            (LinePart::Text("JVMDUMP "), LinePart::Close("e"), LinePart::Text(" "))
        );
        assert_eq!(found[4..], [LinePart::Aside, LinePart::Aside]);
    }

    #[test]
    fn tags_that_break_off_are_text() {
        for text in ["<gc-start id=\"1", "<gc-start id=\"1\"", "<", "< a>", "<!-- x", "<a b=\"1>", "a < b"] {
            assert!(
                pieces(text).iter().any(|piece| matches!(piece, LinePart::Text(text) if text.contains('<'))),
                "{text}"
            );
        }
        assert_eq!(pieces(""), []);
    }

    #[test]
    fn entities_are_resolved_once() {
        assert_eq!(unescaped("IS &lt;octopus&gt; &amp;lt;"), "IS <octopus> &lt;");
    }
}
