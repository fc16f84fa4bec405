//! Values of any type that the metadata describes.

use crate::Malformed;
use crate::cursor::{Cursor, Text};
use crate::metadata::{Field, Kind, Types};

/// Structures within structures.
const DEPTH_MAX: u32 = 12;
/// Values that an event may have beyond its bytes: structures, and lists without elements.
const VALUES_BEYOND_BYTES: usize = 1000;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// An integer, or a truth value.
    Number(u64),
    Text(Text),
    /// A number in the pool of the field's type.
    Constant(u64),
    /// The values of its fields, in their order; the type.
    Fields(u64, Vec<Value>),
    List(Vec<Value>),
}

/// Reads values of one event, at most as many as its bytes allow.
pub(crate) struct Values<'a, 'b> {
    pub(crate) cursor: Cursor<'a>,
    types: &'b Types,
    left: usize,
}

impl<'a, 'b> Values<'a, 'b> {
    pub(crate) fn new(cursor: Cursor<'a>, types: &'b Types) -> Values<'a, 'b> {
        Values { left: cursor.left() + VALUES_BEYOND_BYTES, cursor, types }
    }

    pub(crate) fn of_field(&mut self, field: &Field) -> Result<Value, Malformed> {
        self.field(field, 0)
    }

    pub(crate) fn of_type(&mut self, type_id: u64) -> Result<Value, Malformed> {
        self.value(type_id, 0)
    }

    fn field(&mut self, field: &Field, depth: u32) -> Result<Value, Malformed> {
        if !field.is_list {
            return self.one(field, depth);
        }
        let count = self.cursor.count()?;
        (0..count).map(|_| self.one(field, depth)).collect::<Result<_, _>>().map(Value::List)
    }

    fn one(&mut self, field: &Field, depth: u32) -> Result<Value, Malformed> {
        if field.is_constant {
            self.spend()?;
            return Ok(Value::Constant(self.cursor.number()?));
        }
        self.value(field.type_id, depth)
    }

    fn spend(&mut self) -> Result<(), Malformed> {
        self.left = self.left.checked_sub(1).ok_or(Malformed::TooMany)?;
        Ok(())
    }

    fn value(&mut self, type_id: u64, depth: u32) -> Result<Value, Malformed> {
        self.spend()?;
        if DEPTH_MAX < depth {
            return Err(Malformed::TooDeep);
        }
        let types = self.types;
        let of = types.of(type_id).ok_or(Malformed::NoSuchType)?;
        Ok(match of.kind {
            Kind::Byte => Value::Number(u64::from(self.cursor.byte()?)),
            Kind::Number => Value::Number(self.cursor.number()?),
            Kind::Float => number_of(self.cursor.take(4)?),
            Kind::Double => number_of(self.cursor.take(8)?),
            Kind::Text => Value::Text(self.cursor.text()?),
            Kind::Fields => {
                let fields = of.fields.iter().map(|field| self.field(field, depth + 1));
                Value::Fields(type_id, fields.collect::<Result<_, _>>()?)
            }
        })
    }
}

/// Bits of a fraction, which nobody here asks for.
fn number_of(bytes: &[u8]) -> Value {
    Value::Number(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}
