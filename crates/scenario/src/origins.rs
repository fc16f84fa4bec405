//! The origins of values in the file: laws that they are drawn by, rows of files, places in answers.

use crate::data::{Feed, Order};
use crate::extract::{Extract, ValueLocation};
use crate::file::{DataFile, DataOrder, DataPer, ExtractFile, FormFile, Kind, ValueFile};
use crate::forms::FormName;
use crate::mistakes::Mistakes;
use crate::outside::Outside;
use crate::template;
use crate::value::{LIST_COUNT_MAX, Law, Value};
use assay_text::near::hint;
use memchr::memmem::Finder;
use toml::Spanned;

/// Largest compiled regular expression, bytes.
const REGEX_BYTES_MAX: usize = 1 << 20;
/// A value that is drawn.
pub(crate) fn value(
    name: String,
    file: Spanned<ValueFile>,
    counters: &mut u16,
    mistakes: &mut Mistakes,
) -> Option<Value> {
    let span = file.span();
    let file = file.into_inner();
    let kind = file.kind;
    let per_session =
        matches!(kind, Kind::SessionRange | Kind::SessionList | Kind::SessionCounter | Kind::SessionUuid);
    let mut wrong = |what: String| {
        mistakes.add(&span, format!("value {name:?}: {what}"));
        None
    };
    if !template::is_name(&name) {
        return wrong("a name is a letter, then letters, digits, - and _".to_owned());
    }
    let without_keys = match kind {
        Kind::Uuid | Kind::SessionUuid => Some(Law::Uuid),
        Kind::UnixMs => Some(Law::UnixMs),
        _ => None,
    };
    if let Some(law) = without_keys {
        let ValueFile { kind: _, from, to, values, prefix, count, separator } = &file;
        let has_none = from.or(*to).is_none() && values.is_none() && count.is_none();
        return match has_none && prefix.as_ref().or(separator.as_ref()).is_none() {
            true => Some(Value { name, law, per_session }),
            false => wrong("a uuid, and a time in unix-ms, has no other keys".to_owned()),
        };
    }
    let is_list = matches!(kind, Kind::List | Kind::SessionList);
    let is_counter = matches!(kind, Kind::Counter | Kind::SessionCounter);
    let list_keys = file.count.is_some() || file.separator.is_some() || file.prefix.is_some();
    if (kind != Kind::RangeList && list_keys)
        || (is_list && (file.from.is_some() || file.to.is_some()))
        || (!is_list && file.values.is_some())
    {
        return wrong(
            "ranges have `from` and `to`, counters `from` and optionally `to`, lists `values`. A range-list \
                also has `count`, and optionally `prefix` and `separator`"
                .to_owned(),
        );
    }
    if is_list {
        let texts: Vec<Box<[u8]>> = file
            .values
            .unwrap_or_default()
            .into_iter()
            .map(|scalar| scalar.into_text().into_bytes().into())
            .collect();
        if texts.is_empty() {
            return wrong("a list needs `values` with at least one".to_owned());
        }
        return Some(Value { name, law: Law::List(texts), per_session });
    }
    let (Some(from), Some(to)) = (file.from, file.to.or(is_counter.then_some(i64::MAX))) else {
        return wrong("a range needs `from` and `to`, a counter `from`".to_owned());
    };
    if from > to {
        return wrong(format!("from {from} is above to {to}"));
    }
    if is_counter {
        let number = usize::from(*counters);
        let Some(more) = counters.checked_add(1) else { return wrong("one counter too many".to_owned()) };
        *counters = more;
        return Some(Value { name, law: Law::Counter { number, from, to }, per_session });
    }
    if kind != Kind::RangeList {
        return Some(Value { name, law: Law::Range { from, to }, per_session });
    }
    match file.count {
        Some(count) if count[0] <= count[1] && count[1] <= LIST_COUNT_MAX => {
            let (prefix, separator) =
                (file.prefix.unwrap_or_default(), file.separator.unwrap_or_else(|| ",".to_owned()));
            Some(Value { name, law: Law::RangeList { prefix, from, to, count, separator }, per_session })
        }
        _ => wrong(format!("a range-list needs count = [least, most], at most {LIST_COUNT_MAX}")),
    }
}

/// The files of rows, those that can be read.
pub(crate) fn feeds_of(
    files: Vec<Spanned<DataFile>>,
    outside: &Outside,
    counters: &mut u16,
    mistakes: &mut Mistakes,
) -> Vec<Feed> {
    let mut feeds: Vec<Feed> = Vec::new();
    for (number, data) in files.into_iter().enumerate() {
        let span = data.span();
        let DataFile { file, order, per } = data.into_inner();
        let table = match outside.table(number, &file) {
            Ok(table) => table,
            Err(what) => {
                mistakes.add(&span, what);
                continue;
            }
        };
        let known = |name: &&String| feeds.iter().any(|feed| feed.table.columns.contains(name));
        if let Some(twice) = table.columns.iter().find(known) {
            mistakes.add(
                &span,
                format!("data {file:?}: another [[data]] file has the column {twice:?} too; rename one"),
            );
        }
        let order = match order {
            DataOrder::Sequential => Order::Sequential,
            DataOrder::Random => Order::Random,
            DataOrder::Once => Order::Once,
        };
        let counter = usize::from(*counters);
        *counters = counters.saturating_add(1);
        feeds.push(Feed { file, table, order, counter, per_session: per == DataPer::Session });
    }
    feeds
}

/// Where a value stands, by the keys that say it.
fn place(file: &ExtractFile) -> Result<ValueLocation, String> {
    const FORMS: &str = "define its place by `after` and `before`, `json` (a pointer such as /items/0/id), \
        `regex`, `header`, or `field` of a form, which `form` may name. `form` alone takes all its hidden \
        fields";
    let ExtractFile { operation: _, after, before, json, regex, header, form, field, once: _ } = file;
    let kinds = [
        after.as_ref().or(before.as_ref()).is_some(),
        json.is_some(),
        regex.is_some(),
        header.is_some(),
        form.is_some() || field.is_some(),
    ];
    if kinds.into_iter().filter(|is_it| *is_it).count() != 1 {
        return Err(FORMS.to_owned());
    }
    let finder = |text: &str| Box::new(Finder::new(text.as_bytes()).into_owned());
    match (after, before, json, regex, header, form, field) {
        (Some(after), Some(before), ..) if after.is_empty() || before.is_empty() => {
            Err("`after` and `before` must not be empty".to_owned())
        }
        (Some(after), Some(before), ..) => {
            Ok(ValueLocation::Between { after: finder(after), before: finder(before) })
        }
        (.., Some(pointer), _, _, _, _) if pointer.is_empty() || pointer.starts_with('/') => {
            Ok(ValueLocation::Json(pointer.clone()))
        }
        (.., Some(pointer), _, _, _, _) => {
            Err(format!("json {pointer:?} is not a pointer: it begins with /, such as /items/0/id"))
        }
        (.., Some(regex), _, _, _) => {
            let built = regex::bytes::RegexBuilder::new(regex).size_limit(REGEX_BYTES_MAX).build();
            built.map(ValueLocation::Regex).map_err(|error| {
                format!("regex {regex:?}: {}", error.to_string().lines().last().unwrap_or_default().trim())
            })
        }
        (.., Some(header), _, _) => Ok(ValueLocation::Header(header.clone())),
        (.., Some(FormFile::Number(0)), _) => Err("form = 0: the first form of a page is 1".to_owned()),
        (.., Some(FormFile::Name(name)), _) if name.is_empty() => {
            Err("form = \"\" names none; the first form of a page is form = 1".to_owned())
        }
        (.., form, Some(field)) => {
            Ok(ValueLocation::Field { form: form.as_ref().map(form_name), field: field.clone() })
        }
        (.., Some(form), None) => Ok(ValueLocation::Hidden { form: form_name(form) }),
        _ => Err(FORMS.to_owned()),
    }
}

fn form_name(file: &FormFile) -> FormName {
    match file {
        FormFile::Number(number) => FormName::Number(*number),
        FormFile::Name(name) => FormName::Named(name.clone()),
    }
}

/// A value that is taken from answers, and the number of the operation whose answers they are.
pub(crate) fn extract(
    name: String,
    file: Spanned<ExtractFile>,
    operations: &[String],
    mistakes: &mut Mistakes,
) -> Option<(usize, Extract)> {
    let span = file.span();
    let file = file.into_inner();
    if !template::is_name(&name) {
        mistakes.add(&span, format!("extract {name:?}: a name is a letter, then letters, digits, - and _"));
    }
    let place = place(&file).map_err(|what| mistakes.add(&span, format!("extract {name:?}: {what}")));
    let ExtractFile { operation, once, .. } = file;
    let Some(from) = operations.iter().position(|known| *known == operation) else {
        let hint = hint(&operation, operations.iter().map(String::as_str));
        mistakes.add(&span, format!("extract {name:?}: unknown operation {operation:?}{hint}"));
        return None;
    };
    // A wrong place has been reported. The name counts as known, so that its uses are not reported as well.
    let place = place.unwrap_or(ValueLocation::Json(String::new()));
    Some((from, Extract { name, place, once, is_given: false, is_path: false }))
}
