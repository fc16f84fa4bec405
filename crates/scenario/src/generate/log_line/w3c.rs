//! W3C's extended form, in which a line names the fields of those that follow: IIS, WebLogic, CloudFront.

use super::entry::Entry;
use super::text::target_of;
use super::time::time_of;

/// Longest list of fields.
const FIELDS_MAX: usize = 200;

/// Names of the fields, in their order.
#[derive(Debug, Clone, Default)]
pub(super) struct Fields(Vec<String>);

impl Fields {
    /// Reads `#Fields: date time cs-method ..`.
    pub fn read(line: &str) -> Option<Fields> {
        let names = line.strip_prefix("#Fields:")?;
        Some(Fields(names.split_whitespace().take(FIELDS_MAX).map(str::to_ascii_lowercase).collect()))
    }

    /// The request of a line of these fields.
    pub fn entry(&self, line: &str) -> Option<Entry> {
        let values: Vec<&str> = match line.contains('\t') {
            true => line.split('\t').collect(),
            false => line.split(' ').collect(),
        };
        let value = |name: &str| {
            let at = self.0.iter().position(|field| field == name)?;
            values
                .get(at)
                .map(|value| value.trim().trim_matches('"'))
                .filter(|value| !matches!(*value, "-" | ""))
        };
        let method = value("cs-method")?.to_owned();
        let target = match (value("cs-uri-stem"), value("cs-uri-query")) {
            (Some(stem), Some(query)) => format!("{stem}?{query}"),
            (Some(stem), None) => stem.to_owned(),
            (None, _) => value("cs-uri")?.to_owned(),
        };
        let target = target_of(&method, &target)?;
        let (time_ns, is_whole_second) = match (value("date"), value("time")) {
            (Some(date), Some(time)) => time_of(&format!("{date}T{time}"))?,
            _ => time_of(value("timestamp")?)?,
        };
        let status = value("sc-status").and_then(|status| status.parse().ok());
        Some(Entry { time_ns, is_whole_second, method, target, status })
    }
}
