//! Which types a chunk has, and which fields these consist of.

use crate::Malformed;
use crate::cursor::{Cursor, Text};
use std::collections::HashMap;

/// Elements within each other: metadata, class, field or setting, annotation.
const DEPTH_MAX: u32 = 8;

/// How values of a type are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Byte,
    Number,
    Float,
    Double,
    Text,
    /// One after the other.
    Fields,
}

/// A field of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) type_id: u64,
    pub(crate) is_list: bool,
    /// Whether it is written as a number in the pool of its type.
    pub(crate) is_constant: bool,
}

/// A type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Type {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) fields: Vec<Field>,
}

/// The types of a chunk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Types {
    types: HashMap<u64, Type>,
}

impl Types {
    pub(crate) fn of(&self, id: u64) -> Option<&Type> {
        self.types.get(&id)
    }

    /// Where a field stands in a type.
    pub(crate) fn position(&self, type_id: u64, field: &str) -> Option<usize> {
        self.of(type_id)?.fields.iter().position(|of| of.name == field)
    }

    /// Reads the event of metadata, from behind its type on.
    pub(crate) fn read(mut cursor: Cursor<'_>) -> Result<Types, Malformed> {
        // Start, duration, number of the metadata.
        for _ in 0..3 {
            cursor.number()?;
        }
        let texts = (0..cursor.count()?).map(|_| match cursor.text()? {
            Text::Own(text) => Ok(text),
            Text::Null | Text::Constant(_) => Ok(String::new()),
        });
        let texts = texts.collect::<Result<Vec<_>, Malformed>>()?;
        let mut reader = Reader { cursor, texts: &texts, types: Types::default() };
        reader.element(None, 0)?;
        Ok(reader.types)
    }
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    texts: &'a [String],
    types: Types,
}

impl Reader<'_> {
    fn text(&mut self) -> Result<&str, Malformed> {
        let index = self.cursor.number()?;
        let text = usize::try_from(index).ok().and_then(|index| self.texts.get(index));
        text.map(String::as_str).ok_or(Malformed::Text)
    }

    /// Reads an element with those below it. `class`: the type that it may be a field of.
    fn element(&mut self, class: Option<u64>, depth: u32) -> Result<(), Malformed> {
        if DEPTH_MAX < depth {
            return Err(Malformed::TooDeep);
        }
        let element = self.text()?.to_owned();
        let mut attributes = HashMap::new();
        for _ in 0..self.cursor.count()? {
            let name = self.text()?.to_owned();
            attributes.insert(name, self.text()?.to_owned());
        }
        let number = |name: &str| attributes.get(name).and_then(|text| text.parse().ok());
        let name = || attributes.get("name").cloned().unwrap_or_default();
        let mut own = None;
        match (element.as_str(), class) {
            ("class", _) => {
                own = number("id");
                if let Some(id) = own {
                    let name = name();
                    let kind = kind_of(&name);
                    self.types.types.insert(id, Type { name, kind, fields: Vec::new() });
                }
            }
            ("field", Some(class)) => {
                let field = Field {
                    name: name(),
                    type_id: number("class").ok_or(Malformed::NoSuchType)?,
                    is_list: attributes.get("dimension").is_some_and(|dimension| dimension != "0"),
                    is_constant: attributes.get("constantPool").is_some_and(|is| is == "true"),
                };
                if let Some(class) = self.types.types.get_mut(&class) {
                    class.fields.push(field);
                }
            }
            _ => {}
        }
        for _ in 0..self.cursor.count()? {
            self.element(own, depth + 1)?;
        }
        Ok(())
    }
}

fn kind_of(name: &str) -> Kind {
    match name {
        "boolean" | "byte" => Kind::Byte,
        "char" | "short" | "int" | "long" => Kind::Number,
        "float" => Kind::Float,
        "double" => Kind::Double,
        "java.lang.String" => Kind::Text,
        _ => Kind::Fields,
    }
}
