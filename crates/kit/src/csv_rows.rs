//! CSV for programs: a heading, then rows of as many fields; texts from outside made safe.

use crate::text::clean;
use std::io::{self, Write};

/// Rows of a CSV file (RFC 4180, lines end with `\n`).
pub struct Rows<W: Write>(csv::Writer<W>);

impl<W: Write> Rows<W> {
    /// Begins with the names of the columns.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn new<T: AsRef<str>>(out: W, columns: impl IntoIterator<Item = T>) -> io::Result<Self> {
        let mut rows = Rows(csv::Writer::from_writer(out));
        rows.row(columns)?;
        Ok(rows)
    }

    /// A row; it must have as many fields as the heading.
    ///
    /// # Errors
    /// Those of the writer, and a row of another length.
    pub fn row<T: AsRef<str>>(&mut self, fields: impl IntoIterator<Item = T>) -> io::Result<()> {
        let fields: Vec<String> = fields.into_iter().map(|field| clean(field.as_ref())).collect();
        self.0.write_record(&fields).map_err(io::Error::from)
    }

    /// Writes what is still kept back.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn end(mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_and_hostile_ones_harmless() {
        let mut out = Vec::new();
        let mut rows = Rows::new(&mut out, ["a", "b"]).expect("a vector takes all");
        rows.row(["say \"hi\", you", "x\u{1b}[2J\ny"]).expect("two fields");
        rows.end().expect("a vector takes all");
        let text = String::from_utf8(out).expect("UTF-8");
        assert_eq!(text, "a,b\n\"say \"\"hi\"\", you\",x\u{FFFD}[2J y\n");
    }
}
