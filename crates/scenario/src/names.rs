//! What names in the texts of a scenario mean.

use crate::data::Feed;
use crate::extract::{Extract, ValueLocation};
use crate::grpc::{Services, UnaryMethod};
use crate::mistakes::Mistakes;
use crate::outside::Outside;
use crate::template::{self, Source};
use crate::value::Value;
use assay_text::near::hint;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;

/// What names mean, and what was named.
pub(crate) struct Names<'a> {
    /// Of operations, in the file's order.
    pub operations: &'a [String],
    pub values: &'a [Value],
    pub extracts: &'a [Extract],
    pub feeds: &'a [Feed],
    pub outside: &'a Outside<'a>,
    /// Variables of the environment that were named, with their values.
    pub secrets: RefCell<Vec<(String, String)>>,
    /// Files that requests send.
    pub files: RefCell<Vec<Box<[u8]>>>,
    /// Services whose methods operations may name.
    pub grpc: Schema,
}

/// The schema of services of gRPC.
pub(crate) enum Schema {
    /// The scenario names none.
    Missing,
    /// It is not read.
    Unread,
    Known(Services),
    /// The server is to be asked for it, by names of services.
    Asked(RefCell<BTreeSet<String>>),
}

impl Names<'_> {
    /// Number of an operation.
    pub fn operation(&self, name: &str, span: &Range<usize>, mistakes: &mut Mistakes) -> Option<usize> {
        let at = self.operations.iter().position(|known| known == name);
        if at.is_none() {
            let hint = hint(name, self.operations.iter().map(String::as_str));
            mistakes.add(span, format!("unknown operation {name:?}{hint}"));
        }
        at
    }

    /// Number of an extract.
    pub fn extract(&self, name: &str) -> Option<usize> {
        self.extracts.iter().position(|known| known.name == name)
    }

    fn is_known(&self, name: &str) -> bool {
        self.extract(name).is_some() || self.values.iter().any(|value| value.name == name)
    }

    fn column(&self, name: &str) -> Option<Source> {
        self.feeds.iter().enumerate().find_map(|(feed, of)| {
            let column = of.table.columns.iter().position(|column| column == name)?;
            Some(Source::Column(feed, column))
        })
    }

    /// The extract of a form's hidden fields.
    pub fn hidden(&self, name: &str, has_form: bool) -> Result<usize, String> {
        if !has_form {
            return Err("`hidden` belongs to a `form`, which may be empty: form = {}".to_owned());
        }
        let is_it = |at: &usize| matches!(self.extracts[*at].place, ValueLocation::Hidden { .. });
        self.extract(name).filter(is_it).ok_or_else(|| {
            let of_forms =
                self.extracts.iter().filter(|one| matches!(one.place, ValueLocation::Hidden { .. }));
            format!(
                "hidden {name:?} is not an extract of a form{}",
                hint(name, of_forms.map(|one| one.name.as_str()))
            )
        })
    }

    /// The bytes of a file that requests send.
    pub fn file(&self, file: &str) -> Result<Box<[u8]>, String> {
        let mut files = self.files.borrow_mut();
        let bytes = self.outside.file(files.len(), file)?;
        files.push(bytes.clone());
        Ok(bytes)
    }

    /// A method of gRPC; none where the schema is not read, or not known yet.
    pub fn method(&self, name: &str) -> Result<Option<UnaryMethod>, String> {
        match &self.grpc {
            Schema::Known(services) => services.method(name).map(Some),
            Schema::Unread => Ok(None),
            Schema::Missing if matches!(self.outside, Outside::Absent) => Ok(None),
            Schema::Missing => Err(
                "`grpc` needs the schema of its service: [grpc] schema = \"FILE.proto\", or reflection = true".to_owned(),
            ),
            Schema::Asked(services) => {
                let (service, _) = name
                    .split_once('/')
                    .ok_or_else(|| format!("method {name:?}: methods are named package.Service/Method"))?;
                services.borrow_mut().insert(service.to_owned());
                Ok(None)
            }
        }
    }

    /// Services whose schema the server is to be asked for.
    pub fn asked(&self) -> Vec<String> {
        match &self.grpc {
            Schema::Asked(services) => services.borrow().iter().cloned().collect(),
            Schema::Missing | Schema::Unread | Schema::Known(_) => Vec::new(),
        }
    }

    fn secret(&self, name: &str) -> Result<Source, String> {
        let mut secrets = self.secrets.borrow_mut();
        if let Some(at) = secrets.iter().position(|(known, _)| known == name) {
            return Ok(Source::Secret(at));
        }
        secrets.push((name.to_owned(), self.outside.secret(name)?));
        Ok(Source::Secret(secrets.len() - 1))
    }

    /// Where the text of a name comes from.
    pub fn source(&self, name: &str) -> Result<Source, String> {
        if let Some(name) = name.strip_prefix(template::ENV) {
            return self.secret(name);
        }
        if let Some(column) = self.column(name) {
            return Ok(column);
        }
        // Where no file is read, any name may be that of a column.
        if matches!(self.outside, Outside::Absent) && !self.feeds.is_empty() && !self.is_known(name) {
            return Ok(Source::Column(0, 0));
        }
        if let Some(at) = self.values.iter().position(|known| known.name == name) {
            return Ok(Source::Drawn(at));
        }
        if let Some(at) = self.extract(name) {
            return match self.extracts[at].place {
                ValueLocation::Hidden { .. } => Err(format!(
                    "{{{name}}} is all hidden fields of a form: send them with hidden = {name:?}"
                )),
                _ => Ok(Source::Extracted(at)),
            };
        }
        Err({
            let columns = self.feeds.iter().flat_map(|feed| &feed.table.columns);
            let known: Vec<&str> = (self.values.iter().map(|value| value.name.as_str()))
                .chain(self.extracts.iter().map(|extract| extract.name.as_str()))
                .chain(columns.map(String::as_str))
                .collect();
            format!("unknown value {{{name}}}{}", hint(name, known))
        })
    }
}
