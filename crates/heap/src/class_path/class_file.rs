//! One class file.

use crate::{Field, FieldKind, PrimitiveKind};
use noak::AccessFlags;
use noak::error::DecodeError;
use noak::reader::Class;

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
    for field in class.fields() {
        let field = field?;
        let name = String::from_utf8_lossy(pool.retrieve(field.name())?.as_bytes()).into_owned();
        let kind = kind(pool.retrieve(field.descriptor())?.as_bytes());
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
