//! The secrets that the files of a study hold.

use assay_text::redact::Redactor;

/// The secrets of a study: those of its file, of its workload's file and of its scenarios.
pub(super) fn secrets_of<'a>(files: impl IntoIterator<Item = &'a String>) -> Redactor {
    let mut secrets = Redactor::default();
    for text in files {
        secrets.learn_text(text);
        let table: toml::Table = toml::from_str(text).unwrap_or_default();
        table.iter().for_each(|(key, value)| learn(&mut secrets, key, value));
    }
    secrets
}

/// Learns the value of a key: a variable, an option, a command line as a text or word by word, a URL.
fn learn(secrets: &mut Redactor, key: &str, value: &toml::Value) {
    match value {
        toml::Value::String(text) => {
            secrets.learn_value(key, text);
            secrets.learn_text(text);
            secrets.learn_words(&shell_words::split(text).unwrap_or_default());
        }
        toml::Value::Array(items) => {
            let words: Vec<&str> = items.iter().filter_map(toml::Value::as_str).collect();
            secrets.learn_words(&words);
            items.iter().for_each(|item| learn(secrets, key, item));
        }
        toml::Value::Table(table) => table.iter().for_each(|(key, value)| learn(secrets, key, value)),
        _ => {}
    }
}
