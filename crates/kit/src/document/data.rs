//! The raw numbers of a result: named columns with units in their names, one row after the other. CSV and lines of JSON are made of them.

use crate::csv_rows::Rows;
use std::io::{self, Write};

/// A raw value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// What is not known: an empty field, `null`.
    Absent,
    /// A word or a name.
    Text(String),
    /// A count.
    Whole(i128),
    /// A number; one that is not finite is absent.
    Number(f64),
    /// Yes or no.
    Truth(bool),
}

/// A column of raw values: its name, units last, and the value that a thing has.
pub type Column<T> = (&'static str, fn(&T) -> Value);

/// Rows of raw values.
pub struct Data {
    /// Of what all rows are, by name, such as a log: lines of JSON repeat it, since those of several results may follow each other.
    pub about: Vec<(&'static str, Value)>,
    /// Names of the columns, units last.
    pub columns: Vec<String>,
    /// Rows, each with a value for each column.
    pub rows: Vec<Vec<Value>>,
}

impl Data {
    /// Without a row yet.
    pub fn new<N: Into<String>>(columns: impl IntoIterator<Item = N>) -> Self {
        Data { about: Vec::new(), columns: columns.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// A row for each thing, with a column for each name and field.
    pub fn of<'a, T: 'a, const N: usize>(
        things: impl IntoIterator<Item = &'a T>,
        columns: [Column<T>; N],
    ) -> Self {
        let mut data = Data::new(columns.map(|(name, _)| name));
        data.rows.extend(things.into_iter().map(|thing| columns.iter().map(|(_, of)| of(thing)).collect()));
        data
    }

    /// The same, all of it about this thing.
    pub fn about(mut self, name: &'static str, thing: impl Into<Value>) -> Self {
        self.about.push((name, thing.into()));
        self
    }

    /// The same, with what all rows are about in columns of their own, the first ones: rows of several things may follow each other.
    pub fn with_about(self) -> Self {
        let names = self.about.iter().map(|(name, _)| (*name).to_owned());
        let of_all: Vec<Value> = self.about.iter().map(|(_, thing)| thing.clone()).collect();
        let rows = self.rows.into_iter().map(|row| of_all.iter().cloned().chain(row).collect());
        Data { columns: names.chain(self.columns).collect(), rows: rows.collect(), about: Vec::new() }
    }

    /// Adds a row; it must have a value for each column.
    pub fn push<V: Into<Value>>(&mut self, row: impl IntoIterator<Item = V>) {
        let row: Vec<Value> = row.into_iter().map(Into::into).collect();
        debug_assert_eq!(row.len(), self.columns.len(), "{:?}", self.columns);
        self.rows.push(row);
    }

    /// CSV (RFC 4180): the names of the columns, then the rows; missing values are empty.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_csv(&self, out: impl Write) -> io::Result<()> {
        let mut rows = Rows::new(out, &self.columns)?;
        self.rows.iter().try_for_each(|row| rows.row(row.iter().map(Value::field)))?;
        rows.end()
    }

    /// The same as a text.
    pub fn csv(&self) -> String {
        let mut text = Vec::new();
        // A text in memory takes every line.
        let _ = self.write_csv(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    }

    /// A JSON object on a line for each row; missing values are `null`.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_json_lines(&self, mut out: impl Write) -> io::Result<()> {
        for row in &self.rows {
            let about = self.about.iter().map(|(name, thing)| ((*name).to_owned(), thing.json()));
            let fields = self.columns.iter().cloned().zip(row.iter().map(Value::json));
            let object: serde_json::Map<String, serde_json::Value> = about.chain(fields).collect();
            serde_json::to_writer(&mut out, &object)?;
            writeln!(out)?;
        }
        Ok(())
    }
}

impl Value {
    fn field(&self) -> String {
        match self {
            Value::Absent => String::new(),
            Value::Text(text) => text.clone(),
            Value::Whole(number) => number.to_string(),
            Value::Number(number) if number.is_finite() => number.to_string(),
            Value::Number(_) => String::new(),
            Value::Truth(is_true) => is_true.to_string(),
        }
    }

    fn json(&self) -> serde_json::Value {
        match self {
            Value::Absent => serde_json::Value::Null,
            Value::Text(text) => text.as_str().into(),
            Value::Whole(number) => i64::try_from(*number)
                .map(Into::into)
                .or_else(|_| u64::try_from(*number).map(Into::into))
                .unwrap_or_else(|_| number.to_string().into()),
            // Values that are not finite are null.
            Value::Number(number) => (*number).into(),
            Value::Truth(is_true) => (*is_true).into(),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Text(text)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        if number.is_finite() { Value::Number(number) } else { Value::Absent }
    }
}

impl From<bool> for Value {
    fn from(is_true: bool) -> Self {
        Value::Truth(is_true)
    }
}

macro_rules! whole {
    ($($number:ty)*) => {$(
        impl From<$number> for Value {
            fn from(number: $number) -> Self {
                Value::Whole(number as i128)
            }
        }
    )*};
}

whole!(u8 u16 u32 u64 usize i32 i64);

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Absent, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_json_say_what_they_are_about_and_csv_does_not() {
        let mut data = Data::new(["count"]).about("log", "a.log");
        data.push([7_u64]);
        let (mut csv, mut lines) = (Vec::new(), Vec::new());
        data.write_csv(&mut csv).expect("a vector takes all");
        data.write_json_lines(&mut lines).expect("a vector takes all");
        assert_eq!(String::from_utf8_lossy(&csv), "count\n7\n");
        assert_eq!(String::from_utf8_lossy(&lines), "{\"count\":7,\"log\":\"a.log\"}\n");
    }

    #[test]
    fn what_is_absent_is_empty_in_csv_and_null_in_json() {
        let mut data = Data::new(["name", "p99_ms", "count"]);
        data.push([Value::from("a,b"), Some(f64::NAN).into(), u64::MAX.into()]);
        data.push([Value::from("c"), None::<f64>.into(), 7_u64.into()]);
        let (mut csv, mut lines) = (Vec::new(), Vec::new());
        data.write_csv(&mut csv).expect("a vector takes all");
        data.write_json_lines(&mut lines).expect("a vector takes all");
        assert_eq!(String::from_utf8_lossy(&csv), "name,p99_ms,count\n\"a,b\",,18446744073709551615\nc,,7\n");
        assert_eq!(
            String::from_utf8_lossy(&lines),
            "{\"count\":18446744073709551615,\"name\":\"a,b\",\"p99_ms\":null}\n{\"count\":7,\"name\":\"c\",\"p99_ms\":null}\n"
        );
    }
}
