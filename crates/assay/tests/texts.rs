//! What our texts keep to: README and glossary are short, and stored formats are named with the number that they have now.

use assay_model::schema;
use assay_testkit::checkout;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn text(path: &str) -> String {
    fs::read_to_string(checkout().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

const README_LINES_MAX: usize = 150;
const README_WORDS_MAX: usize = 1_500;

#[test]
fn the_readme_is_one_page() {
    let readme = text("README.md");
    let (lines, words) = (readme.lines().count(), readme.split_whitespace().count());
    assert!((1..=README_LINES_MAX).contains(&lines), "{lines} lines, {README_LINES_MAX} at most");
    assert!((1..=README_WORDS_MAX).contains(&words), "{words} words, {README_WORDS_MAX} at most");
    for command in ["./assay demo", "./check"] {
        assert!(readme.contains(&format!("    {command} ")), "{command} is not shown");
    }
}

const TERMS_MAX: usize = 30;

/// The terms of a glossary, each with its synonym. Behind title and introduction every paragraph is a heading or one term.
fn terms(glossary: &str) -> Result<Vec<(&str, &str)>, String> {
    let term = |paragraph| {
        let (term, rest) = str::strip_prefix(paragraph, "**")?.split_once("** (")?;
        let (synonym, meaning) = rest.split_once("): ")?;
        (!meaning.contains("**")).then_some((term, synonym))
    };
    let paragraphs = glossary.split("\n\n").skip(2).filter(|paragraph| !paragraph.starts_with('#'));
    paragraphs
        .map(|paragraph| term(paragraph).ok_or(format!("not \"**term** (synonym): meaning\": {paragraph}")))
        .collect()
}

#[test]
fn the_glossary_is_short_and_gives_each_term_its_synonym() {
    let glossary = text("GLOSSARY.md");
    let terms = terms(&glossary).unwrap_or_else(|wrong| panic!("{wrong}"));
    assert!((20..=TERMS_MAX).contains(&terms.len()), "{} terms, {TERMS_MAX} at most", terms.len());
    let names: BTreeSet<&str> = terms.iter().map(|(term, _)| *term).collect();
    assert_eq!(names.len(), terms.len(), "a term stands twice");
    assert!(terms.iter().all(|(term, synonym)| !synonym.is_empty() && term != synonym), "{terms:?}");
}

#[test]
fn a_glossary_that_hides_a_term_or_lacks_a_synonym_is_refused() {
    let with = |paragraph: &str| format!("# Glossary\n\nWhat it is.\n\n## Load\n\n{paragraph}\n");
    assert_eq!(terms(&with("**trial** (run): one launch.")), Ok(vec![("trial", "run")]));
    for wrong in ["**trial**: one launch.", "**trial** (run): one launch of a **variant**.", "A sentence."] {
        assert!(terms(&with(wrong)).is_err(), "{wrong}");
    }
}

/// Files below a folder that end so; of what a build makes and of kept results none.
fn files(folder: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let is_left_out = ["target", "node_modules", "runs", "testdata"].contains(&name.as_str());
        if path.is_dir() && !is_left_out && !name.starts_with('.') {
            files(&path, endings, found);
        } else if endings.iter().any(|end| name.ends_with(end)) {
            found.push(path);
        }
    }
}

/// The names of stored formats in a text, such as `assay.gc/4`.
fn formats_in(text: &str) -> Vec<&str> {
    let format = |(at, _)| {
        let rest: &str = &text[at..];
        let slash = rest.find(|c: char| !(c.is_ascii_lowercase() || ['.', '-'].contains(&c)))?;
        let number = rest.get(slash..)?.strip_prefix('/')?;
        let digits = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
        (digits > 0).then(|| &rest[..slash + 1 + digits])
    };
    text.match_indices("assay.").filter_map(format).collect()
}

#[test]
fn texts_name_stored_formats_with_their_number_of_now() {
    let mut texts = Vec::new();
    files(&checkout(), &[".md", ".schema.json"], &mut texts);
    // What changed in which number stands there.
    let of_history = ["CHANGELOG.md", "formats.md"];
    texts.retain(|path| !of_history.iter().any(|name| path.ends_with(name)));
    let (mut named, mut wrong) = (0, Vec::new());
    for path in texts {
        let text = fs::read_to_string(&path).expect("a text");
        let formats = formats_in(&text);
        named += formats.len();
        let stale = formats.iter().filter(|format| !schema::ALL.contains(format));
        wrong.extend(stale.map(|format| format!("{}: {format}", path.display())));
    }
    assert!(named > 20, "only {named} names found");
    assert!(wrong.is_empty(), "no format of this version:\n{}", wrong.join("\n"));
    assert_eq!(formats_in("`assay.gc-events/2`, assay.memory/ and assay.time"), ["assay.gc-events/2"]);
}

/// `assay.gc/4` to `gc` and 4.
fn parts(id: &str) -> (&str, u32) {
    let (name, number) = id.strip_prefix("assay.").and_then(|id| id.rsplit_once('/')).expect("assay.NAME/N");
    (name, number.parse().expect("a number"))
}

#[test]
fn the_reference_of_formats_has_each_with_its_schema_and_every_change_of_number() {
    let page = text("docs/reference/formats.md");
    let (tables, history) = page.split_once("\n## What changed with a number\n").expect("the history");
    let rows: Vec<&str> = tables.lines().filter(|line| line.starts_with("| `assay.")).collect();
    for id in schema::ALL {
        let (name, number) = parts(id);
        let link = format!("| [{name}](../schemas/{name}.schema.json) |");
        let is_row = |row: &&&str| row.starts_with(&format!("| `{id}` | ")) && row.ends_with(&link);
        assert_eq!(rows.iter().filter(is_row).count(), 1, "{id} needs one row, with {link}");
        for raised in
            (2..=number).filter(|number| schema::check(&format!("assay.{name}/{}", number - 1), id).is_ok())
        {
            let change = format!("`assay.{name}/{raised}`");
            assert!(history.contains(&change), "what changed with {change} is not said");
        }
    }
    assert_eq!(rows.len(), schema::ALL.len(), "a row of no format");
    let mut schemas = Vec::new();
    files(&checkout().join("docs/schemas"), &[""], &mut schemas);
    let names: BTreeSet<String> =
        schemas.iter().filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned())).collect();
    let linked = schema::ALL.iter().map(|id| format!("{}.schema.json", parts(id).0)).collect();
    assert_eq!(names, linked, "docs/schemas");
    let unknown: Vec<&str> = formats_in(history)
        .into_iter()
        .filter(|id| !schema::ALL.iter().any(|of| schema::check(id, of).is_ok()))
        .collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}
