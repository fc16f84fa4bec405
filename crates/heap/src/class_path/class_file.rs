//! One class file.

use crate::{Field, FieldKind, PrimitiveKind};
use noak::AccessFlags;
use noak::error::DecodeError;
use noak::reader::cpool::ConstantPool;
use noak::reader::{Attribute, Class, DecodeMany};

/// What of a class file decides the layout of its objects.
#[derive(Debug, Default)]
pub(super) struct ClassFile {
    /// External name.
    pub name: String,
    /// External name of its super class; absent for `java.lang.Object`.
    pub super_class: Option<String>,
    /// Fields of its instances, in the file's order.
    pub fields: Vec<Field>,
    /// Its static fields, in the file's order.
    pub statics: Vec<Field>,
    /// What is `@Contended`: a field, or the whole class for none; and its group.
    pub contended: Vec<(Option<String>, String)>,
}

impl ClassFile {
    /// Reads one; says why it cannot.
    pub fn parse(bytes: &[u8]) -> Result<ClassFile, String> {
        read(bytes).map_err(|error| error.to_string())
    }
}

fn read(bytes: &[u8]) -> Result<ClassFile, DecodeError> {
    let class = Class::new(bytes)?;
    let pool = class.pool();
    let mut file = ClassFile {
        name: external(pool.retrieve(class.this_class())?.name.as_bytes()),
        ..ClassFile::default()
    };
    if let Some(above) = class.super_class() {
        file.super_class = Some(external(pool.retrieve(above)?.name.as_bytes()));
    }
    if let Some(group) = contended_group(&class.attributes(), pool)? {
        file.contended.push((None, group));
    }
    for field in class.fields() {
        let field = field?;
        let name = String::from_utf8_lossy(pool.retrieve(field.name())?.as_bytes()).into_owned();
        let kind = kind(pool.retrieve(field.descriptor())?.as_bytes());
        if let Some(group) = contended_group(&field.attributes(), pool)? {
            file.contended.push((Some(name.clone()), group));
        }
        let is_static = field.access_flags().contains(AccessFlags::STATIC);
        let into = if is_static { &mut file.statics } else { &mut file.fields };
        into.push(Field { name: name.into_boxed_str(), kind });
    }
    Ok(file)
}

fn external(internal: &[u8]) -> String {
    String::from_utf8_lossy(internal).replace('/', ".")
}

fn kind(descriptor: &[u8]) -> FieldKind {
    let primitive = |kind| FieldKind::Primitive(kind);
    match descriptor {
        b"Z" => primitive(PrimitiveKind::Boolean),
        b"C" => primitive(PrimitiveKind::Char),
        b"F" => primitive(PrimitiveKind::Float),
        b"D" => primitive(PrimitiveKind::Double),
        b"B" => primitive(PrimitiveKind::Byte),
        b"S" => primitive(PrimitiveKind::Short),
        b"I" => primitive(PrimitiveKind::Int),
        b"J" => primitive(PrimitiveKind::Long),
        _ => FieldKind::Reference,
    }
}

const CONTENDED: [&[u8]; 2] = [b"Ljdk/internal/vm/annotation/Contended;", b"Lsun/misc/Contended;"];

/// The group of a class or a field that is `@Contended`, empty for none.
fn contended_group<'a>(
    attributes: &DecodeMany<'a, Attribute<'a>, u16>,
    pool: &ConstantPool<'a>,
) -> Result<Option<String>, DecodeError> {
    for attribute in attributes {
        let attribute = attribute?;
        if pool.retrieve(attribute.name())?.as_bytes() == b"RuntimeVisibleAnnotations" {
            let mut annotations = Annotations { bytes: attribute.content(), pool };
            // What cannot be read is an annotation that the JVM would not understand either.
            return Ok(annotations.contended_group().flatten());
        }
    }
    Ok(None)
}

/// A table of annotations. Values may hold values, as deep as a file is long: it is walked without recursion, which the
/// library's own reader is not.
struct Annotations<'a, 'p> {
    bytes: &'a [u8],
    pool: &'p ConstantPool<'a>,
}

impl Annotations<'_, '_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes([self.byte()?, self.byte()?]))
    }

    fn text(&mut self) -> Option<Vec<u8>> {
        let index = noak::reader::cpool::Index::new(self.number()?).ok()?;
        let text: &noak::reader::cpool::Utf8<'_> = self.pool.get(index).ok()?;
        Some(text.content.as_bytes().to_vec())
    }

    /// `None` where it cannot be read, `Some(None)` where none is `@Contended`.
    fn contended_group(&mut self) -> Option<Option<String>> {
        for _ in 0..self.number()? {
            let is_contended = CONTENDED.contains(&&*self.text()?);
            let mut group = String::new();
            for _ in 0..self.number()? {
                self.number()?;
                if is_contended && self.bytes.first() == Some(&b's') {
                    self.byte()?;
                    group = String::from_utf8_lossy(&self.text()?).into_owned();
                } else {
                    self.skip_value()?;
                }
            }
            if is_contended {
                return Some(Some(group));
            }
        }
        Some(None)
    }

    fn skip_value(&mut self) -> Option<()> {
        // Values still to come, and whether each has a name before it; the innermost last.
        let mut open: Vec<(u16, bool)> = vec![(1, false)];
        while let Some((left, is_named)) = open.last_mut() {
            let Some(fewer) = left.checked_sub(1) else {
                open.pop();
                continue;
            };
            *left = fewer;
            if *is_named {
                self.number()?;
            }
            match self.byte()? {
                b'[' => open.push((self.number()?, false)),
                b'@' => {
                    self.number()?;
                    open.push((self.number()?, true));
                }
                b'e' => {
                    self.number()?;
                    self.number()?;
                }
                _ => {
                    self.number()?;
                }
            }
        }
        Some(())
    }
}
