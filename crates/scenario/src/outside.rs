//! Inputs of a scenario from outside its file: rows of data, secrets, arrivals that were recorded. Where the file is, they are read;
//! an injector has them from its controller, and reads nothing.

use crate::ScenarioError;
use crate::data::{self, Table};
use crate::grpc;
use crate::rate::RateSchedule;
use assay_text::redact::REDACTED;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Shortest secret, bytes: a shorter one stands in many texts by chance, and could not be kept out of messages.
pub(crate) const SECRET_BYTES_MIN: usize = 4;

/// Longest file that a request may send, bytes.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// A scenario as it travels to an injector. The way is encrypted; it is stored nowhere.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sent {
    pub text: String,
    /// By `[[data]]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<Table>,
    /// Names and values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<(String, String)>,
    /// Files that requests send, in the order of the scenario, base64.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateSchedule>,
}

/// Where things from outside come from.
pub(crate) enum Outside<'a> {
    /// From files beside the scenario, and the environment of this process.
    Here(&'a Path),
    /// With the scenario.
    Sent(Sent),
    /// Nowhere: anything may be there, and is empty. For looking at a scenario that is not to be run.
    Absent,
}

impl Outside<'_> {
    /// What came from a controller.
    ///
    /// # Errors
    /// Its rows do not hold together.
    pub fn sent(sent: Sent) -> Result<Outside<'static>, ScenarioError> {
        match sent.data.iter().all(Table::is_right) {
            true => Ok(Outside::Sent(sent)),
            false => Err(ScenarioError::Mistakes(vec![
                "scenario: rows of data that do not hold together".to_owned(),
            ])),
        }
    }

    /// The rows of a file, which is the so many-th that the scenario names.
    ///
    /// # Errors
    /// They cannot be read, with the reason.
    pub fn table(&self, number: usize, file: &str) -> Result<Arc<Table>, String> {
        match self {
            Outside::Here(folder) => data::read(&folder.join(file)).map(Arc::new),
            Outside::Sent(sent) => sent
                .data
                .get(number)
                .cloned()
                .map(Arc::new)
                .ok_or_else(|| format!("the rows of {file:?} are missing")),
            Outside::Absent => Ok(Arc::new(Table::new(Vec::new()))),
        }
    }

    /// The bytes of a file that requests send, which is the so many-th that the scenario names.
    ///
    /// # Errors
    /// It cannot be read, with the reason.
    pub fn file(&self, number: usize, file: &str) -> Result<Box<[u8]>, String> {
        match self {
            Outside::Here(folder) => read_file(&folder.join(file)).map(Into::into),
            Outside::Sent(sent) => {
                let sent = sent.files.get(number).and_then(|text| STANDARD.decode(text).ok());
                sent.map(Into::into).ok_or_else(|| format!("the bytes of {file:?} are missing"))
            }
            Outside::Absent => Ok(Box::default()),
        }
    }

    /// The set of descriptors of a schema of gRPC, which is the so many-th file that the scenario names.
    ///
    /// # Errors
    /// It cannot be read, with the reason.
    pub fn descriptors(&self, number: usize, file: &str) -> Result<Box<[u8]>, String> {
        match self {
            Outside::Here(folder) if grpc::is_proto(Path::new(file)) => {
                grpc::compile_proto(&folder.join(file)).map(Into::into)
            }
            _ => self.file(number, file),
        }
    }

    /// The set of descriptors that a server gave, which is the so many-th file; empty while it was not asked.
    ///
    /// # Errors
    /// It was lost on the way.
    pub fn reflected(&self, number: usize) -> Result<Box<[u8]>, String> {
        match self {
            Outside::Sent(sent) if !sent.files.is_empty() => self.file(number, "[grpc]"),
            _ => Ok(Box::default()),
        }
    }

    /// The value of a variable.
    ///
    /// # Errors
    /// It is not there or cannot be used, with the reason.
    pub fn secret(&self, name: &str) -> Result<String, String> {
        let value = match self {
            Outside::Here(_) => std::env::var(name).map_err(|error| match error {
                std::env::VarError::NotPresent => {
                    format!("environment variable {name} is not set; set it, or export it")
                }
                std::env::VarError::NotUnicode(_) => format!("environment variable {name} is not UTF-8"),
            })?,
            Outside::Sent(sent) => {
                let known = sent.secrets.iter().find(|(known, _)| known == name);
                known
                    .map(|(_, value)| value.clone())
                    .ok_or_else(|| format!("the value of {name} is missing"))?
            }
            Outside::Absent => return Ok(String::new()),
        };
        if value.len() < SECRET_BYTES_MIN {
            return Err(format!(
                "environment variable {name} holds fewer than {SECRET_BYTES_MIN} bytes, too short to keep it out of messages"
            ));
        }
        Ok(value)
    }

    /// The schedule of a rate.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn rate(&self, text: &str) -> Result<Option<RateSchedule>, String> {
        match self {
            Outside::Here(folder) => RateSchedule::parse(text, folder).map(Some),
            Outside::Sent(sent) => {
                sent.rate.clone().map(Some).ok_or_else(|| "the schedule is missing".to_owned())
            }
            Outside::Absent => Ok(None),
        }
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read =
        std::fs::File::open(path).and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes));
    match read {
        Err(error) => Err(format!("cannot read {}: {error}", path.display())),
        Ok(_) if FILE_BYTES_MAX < bytes.len() as u64 => {
            Err(format!("{} has more than 16 MiB", path.display()))
        }
        Ok(_) => Ok(bytes),
    }
}

/// Bytes as they are sent to an injector.
pub(crate) fn sent_file(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Values of variables of the environment, which are sent and never stored or shown.
#[derive(Clone, Default)]
pub struct Secrets(Arc<[(String, String)]>);

impl std::fmt::Debug for Secrets {
    fn fmt(&self, to: &mut std::fmt::Formatter) -> std::fmt::Result {
        to.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

impl Secrets {
    /// Of names and values.
    pub(crate) fn new(all: Vec<(String, String)>) -> Secrets {
        Secrets(all.into())
    }

    /// For an injector.
    pub(crate) fn sent(&self) -> Vec<(String, String)> {
        self.0.to_vec()
    }

    /// The value of one.
    pub(crate) fn value(&self, number: usize) -> &[u8] {
        self.0.get(number).map_or(&[], |(_, value)| value.as_bytes())
    }

    /// A text without their values, as they are, as they stand in URLs and forms, and as JSON quotes them.
    pub fn redacted<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut shown = Cow::Borrowed(text);
        for (_, value) in self.0.iter() {
            for form in forms(value) {
                if !form.is_empty() && shown.contains(&form) {
                    shown = Cow::Owned(shown.replace(&form, REDACTED));
                }
            }
        }
        shown
    }
}

fn forms(value: &str) -> [String; 4] {
    use crate::template::{Encoding, encode};
    let encoded = |encoding| {
        let mut out = Vec::new();
        encode(value.as_bytes(), encoding, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    };
    let json = serde_json::Value::from(value).to_string();
    let quoted = json.trim_matches('"').to_owned();
    [value.to_owned(), encoded(Encoding::Path), encoded(Encoding::Form), quoted]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_found_in_each_form_and_shown_in_none() {
        let secrets = Secrets::new(vec![("TOKEN".into(), "p&ss \"1\"".into())]);
        for text in ["p&ss \"1\"", "a=p%26ss%20%221%22&", "p%26ss+%221%22", "{\"a\":\"p&ss \\\"1\\\"\"}"] {
            let shown = secrets.redacted(text);
            assert!(shown.contains(REDACTED) && !shown.contains("ss"), "{shown}");
        }
        assert_eq!(format!("{secrets:?}"), "[\"TOKEN\"]");
        assert!(matches!(secrets.redacted("nothing"), Cow::Borrowed("nothing")));
    }
}
