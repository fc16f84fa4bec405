//! Files of rows: CSV with a header, a JSON array of objects, or an object in each line.

use super::Table;
use assay_text::near::hint;
use serde::de::{DeserializeSeed, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

/// Longest file that is read, bytes: what stands around the values may be more than these.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// Reads a file, which is named in every message.
///
/// # Errors
/// What is wrong with it, and in which line or row.
pub(crate) fn read(path: &Path) -> Result<Table, String> {
    let named = path.display().to_string();
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let form = match extension.to_ascii_lowercase().as_str() {
        "csv" => csv,
        "json" => array,
        "ndjson" | "jsonl" => lines,
        other => {
            let hint = hint(other, ["csv", "json", "ndjson", "jsonl"]);
            return Err(format!("data {named}: its name ends with {other:?}{hint}"));
        }
    };
    let wrong = |what: String| format!("data {named}{what}");
    let open = || -> std::io::Result<File> {
        let file = File::open(path)?;
        match file.metadata()? {
            of if !of.is_file() => Err(std::io::Error::other("it is not a file")),
            of if of.len() > FILE_BYTES_MAX => {
                Err(std::io::Error::other("it is longer than 256 MiB; cut it"))
            }
            _ => Ok(file),
        }
    };
    let file = open().map_err(|error| wrong(format!(": {error}")))?;
    let table = form(&mut BufReader::new(file.take(FILE_BYTES_MAX))).map_err(wrong)?;
    if table.rows() == 0 { Err(wrong(": it holds no rows".to_owned())) } else { Ok(table) }
}

fn csv(from: &mut dyn Read) -> Result<Table, String> {
    let mut reader = csv::ReaderBuilder::new().from_reader(from);
    let wrong = |error: csv::Error| {
        let line = error.position().map_or_else(String::new, |place| format!(":{}", place.line()));
        let what = match error.kind() {
            csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                format!("{len} values where the header has {expected_len}")
            }
            csv::ErrorKind::Utf8 { .. } => {
                "this line is not UTF-8: save the file in that encoding".to_owned()
            }
            _ => error.to_string(),
        };
        format!("{line}: {what}")
    };
    let columns: Vec<String> =
        reader.headers().map_err(wrong)?.iter().map(|name| name.trim().to_owned()).collect();
    if columns.iter().all(String::is_empty) {
        return Err(": it has no header, the names of its columns in the first line".to_owned());
    }
    if let Some(twice) = (1..columns.len()).find(|at| columns[..*at].contains(&columns[*at])) {
        return Err(format!(":1: column {:?} is there twice; rename one", columns[twice]));
    }
    let mut table = Table::new(columns);
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record).map_err(wrong)? {
        let line = record.position().map_or(0, csv::Position::line);
        record.iter().try_for_each(|value| table.add(value)).map_err(|what| format!(":{line}: {what}"))?;
    }
    Ok(table)
}

/// Rows as they come.
#[derive(Default)]
struct Objects {
    table: Option<Table>,
    rows: u64,
}

impl Objects {
    /// Adds a row. The first says which columns there are.
    fn add(&mut self, object: &Map<String, Value>) -> Result<(), String> {
        self.rows += 1;
        let row = self.rows;
        let table = self.table.get_or_insert_with(|| Table::new(object.keys().cloned().collect()));
        if let Some(more) = object.keys().find(|key| !table.columns.contains(key)) {
            return Err(format!("row {row} has {more:?}, which the first has not"));
        }
        for column in table.columns.clone() {
            let value = object.get(&column).ok_or_else(|| format!("row {row} lacks {column:?}"))?;
            match value {
                Value::String(text) => table.add(text),
                Value::Null => table.add(""),
                other => table.add(&other.to_string()),
            }?;
        }
        Ok(())
    }

    fn into_table(self) -> Table {
        self.table.unwrap_or_else(|| Table::new(Vec::new()))
    }
}

fn lines(from: &mut dyn Read) -> Result<Table, String> {
    let mut objects = Objects::default();
    for object in serde_json::Deserializer::from_reader(from).into_iter::<Map<String, Value>>() {
        objects.add(&object.map_err(|error| format!(": {error}"))?).map_err(|what| format!(": {what}"))?;
    }
    Ok(objects.into_table())
}

fn array(from: &mut dyn Read) -> Result<Table, String> {
    let mut objects = Objects::default();
    let mut deserializer = serde_json::Deserializer::from_reader(from);
    let read = InArray(&mut objects).deserialize(&mut deserializer).and_then(|()| deserializer.end());
    read.map_err(|error| format!(": {error}"))?;
    Ok(objects.into_table())
}

/// The objects of an array, one after the other, so that only one is taken apart at a time.
struct InArray<'a>(&'a mut Objects);

impl<'de> DeserializeSeed<'de> for InArray<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for InArray<'_> {
    type Value = ();

    fn expecting(&self, to: &mut std::fmt::Formatter) -> std::fmt::Result {
        to.write_str("an array of objects, each a row")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        while let Some(object) = elements.next_element::<Map<String, Value>>()? {
            self.0.add(&object).map_err(serde::de::Error::custom)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Form = fn(&mut dyn Read) -> Result<Table, String>;

    fn values(table: &Table) -> Vec<Vec<String>> {
        let text = |row, column| String::from_utf8_lossy(table.value(row, column)).into_owned();
        (0..table.rows())
            .map(|row| (0..table.columns.len()).map(|column| text(row, column)).collect())
            .collect()
    }

    fn of(form: Form, text: &str) -> Result<Table, String> {
        form(&mut text.as_bytes())
    }

    #[test]
    fn rows_are_the_same_in_each_form() {
        let csv = of(csv, "\u{feff}id,name\r\n1,\"Gr\u{fc}n, \"\"A\"\"\"\n2,\n").expect("good CSV");
        assert_eq!(csv.columns, ["id", "name"]);
        assert_eq!(values(&csv), [["1", "Gr\u{fc}n, \"A\""], ["2", ""]]);
        let rows = ["{\"name\":\"Gr\u{fc}n, \\\"A\\\"\",\"id\":1}", "{\"id\":2,\"name\":null}"];
        assert_eq!(values(&of(array, &format!("[{}]", rows.join(","))).expect("good JSON")), values(&csv));
        assert_eq!(values(&of(lines, &rows.join("\n")).expect("good lines")), values(&csv));
        let kinds = of(array, r#"[{"a":1.50,"b":true,"c":{"d":[1]}}]"#).expect("scalars and more");
        assert_eq!(values(&kinds), [["1.5", "true", "{\"d\":[1]}"]]);
    }

    #[test]
    fn mistakes_name_line_or_row() {
        for (form, text, want) in [
            (csv as Form, "a,b\n1,2\n3\n", ":3: 1 values where the header has 2"),
            (csv, "a,a\n1,2\n", ":1: column \"a\" is there twice; rename one"),
            (csv, "", ": it has no header, the names of its columns in the first line"),
            (array, "[{\"a\":1},{\"b\":1}]", ": row 2 has \"b\", which the first has not"),
            (array, "[{\"a\":1,\"b\":2},{\"b\":1}]", ": row 2 lacks \"a\""),
            (array, "[[1]]", ": invalid type: sequence, expected a map"),
            (array, "{}", ": invalid type: map, expected an array of objects, each a row"),
            (array, "[{\"a\":1}] x", ": trailing characters"),
            (lines, "{\"a\":1}\n[", ": invalid type: sequence, expected a map"),
        ] {
            let error = of(form, text).expect_err(text);
            assert!(error.starts_with(want), "{error}");
        }
        let latin1 = csv(&mut b"a\n1\n\xfc\n".as_slice()).expect_err("not UTF-8");
        assert_eq!(latin1, ":3: this line is not UTF-8: save the file in that encoding");
    }

    #[test]
    fn files_that_are_none_and_names_that_say_nothing_are_told() {
        let error = |path: &str| read(Path::new(path)).expect_err(path);
        assert_eq!(error("/x/rows.cvs"), "data /x/rows.cvs: its name ends with \"cvs\"; did you mean `csv`?");
        assert!(error("/nowhere/rows.csv").starts_with("data /nowhere/rows.csv: No such file"));
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("d.csv");
        std::fs::create_dir(&path).expect("made");
        assert!(read(&path).expect_err("a folder").contains("not a file"));
        let empty = folder.path().join("e.json");
        std::fs::write(&empty, "[]").expect("written");
        assert!(read(&empty).expect_err("no rows").ends_with("it holds no rows"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_rows_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200), form in 0..3_usize) {
            let form = [csv as Form, array, lines][form];
            if let Ok(table) = form(&mut bytes.as_slice()) {
                prop_assert!(table.rows() == 0 || table.is_right());
            }
        }
    }
}
