//! Links in our Markdown files lead to a file, and to a heading in it; the table of contents of the documentation lists every page.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the checkout")
}

fn markdown_files(folder: &Path, found: &mut Vec<PathBuf>) {
    const WITHOUT_TEXTS_OF_OURS: [&str; 3] = ["target", "node_modules", "runs"];
    for entry in fs::read_dir(folder).expect("readable folder").flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() && !name.starts_with('.') && !WITHOUT_TEXTS_OF_OURS.contains(&name.as_str()) {
            markdown_files(&path, found);
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
}

/// The lines of a text outside of code blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut in_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        !in_code && !is_fence && !line.starts_with("    ")
    })
}

/// What the links of a text lead to.
fn targets(text: &str) -> Vec<String> {
    let in_line = |line: &str| {
        let ends = line.match_indices("](").filter_map(|(at, mark)| {
            let rest = &line[at + mark.len()..];
            Some(rest[..rest.find(')')?].to_owned())
        });
        ends.collect::<Vec<_>>()
    };
    prose(text).flat_map(in_line).collect()
}

/// The anchors of a text's headings, as renderers of Markdown make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let anchor = |heading: &str| {
        let kept = heading.trim().to_lowercase();
        let kept = kept.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    prose(text)
        .filter(|line| line.starts_with('#'))
        .map(|line| anchor(line.trim_start_matches('#')))
        .collect()
}

/// Why a link of a file leads nowhere.
fn broken(file: &Path, target: &str) -> Option<String> {
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let to = if path.is_empty() { file.to_owned() } else { file.parent()?.join(path) };
    if !to.exists() {
        return Some(format!("{}: no file {path}", file.display()));
    }
    let is_there = anchor.is_empty() || anchors(&fs::read_to_string(&to).ok()?).contains(anchor);
    (!is_there).then(|| format!("{}: no heading #{anchor} in {}", file.display(), to.display()))
}

#[test]
fn links_lead_to_files_and_headings() {
    let mut files = Vec::new();
    markdown_files(&root(), &mut files);
    let mut seen = 0;
    let mut wrong = Vec::new();
    for file in &files {
        for target in targets(&fs::read_to_string(file).expect("a text")) {
            if !target.contains("://") && !target.starts_with("mailto:") {
                seen += 1;
                wrong.extend(broken(file, &target));
            }
        }
    }
    assert!(seen > 30, "only {seen} links");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    let readme = root().join("README.md");
    assert!(broken(&readme, "docs/no-such-page.md").is_some());
    assert!(broken(&readme, "GLOSSARY.md#no-such-heading").is_some());
}

/// Largest picture of the README: it is loaded with every look at the repository.
const PICTURE_BYTES_MAX: u64 = 200_000;

#[test]
fn the_pictures_of_the_readme_are_there_and_small_in_both_colours() {
    let text = fs::read_to_string(root().join("README.md")).expect("a text");
    for attribute in ["srcset=\"", "src=\""] {
        let named: Vec<&str> =
            text.split(attribute).skip(1).filter_map(|rest| Some(rest.split_once('"')?.0)).collect();
        assert_eq!(named.len(), 2, "one of memory and one of a study: {named:?}");
        for name in named {
            let bytes = fs::metadata(root().join(name)).map_or(0, |metadata| metadata.len());
            assert!(0 < bytes && bytes <= PICTURE_BYTES_MAX, "{name}: {bytes} bytes");
        }
    }
}

#[test]
fn the_table_of_contents_lists_every_page() {
    let docs = root().join("docs");
    let listed: BTreeSet<PathBuf> = targets(&fs::read_to_string(docs.join("SUMMARY.md")).expect("a text"))
        .iter()
        .map(|target| docs.join(target))
        .collect();
    let mut pages = Vec::new();
    markdown_files(&docs, &mut pages);
    let unlisted: Vec<_> =
        pages.iter().filter(|page| !page.ends_with("SUMMARY.md") && !listed.contains(*page)).collect();
    assert!(unlisted.is_empty(), "{unlisted:?}");
}
