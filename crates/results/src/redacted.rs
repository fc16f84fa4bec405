//! The secrets of a study, and how they are kept out of everything that is stored.

use assay_model::Plan;
use assay_text::file::write_whole;
use assay_text::redact::{self, REDACTED, Redactor};
use memchr::memmem;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// Bytes that are searched at once.
const PIECE_BYTES: usize = 1 << 20;

/// The plan without what its variants are given under the names of secrets.
pub fn stored_plan(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    for scenario in &mut plan.scenarios {
        scenario.text = redact::text(&scenario.text).into_owned();
    }
    for variant in &mut plan.variants {
        if let Some(build) = &mut variant.build {
            build.command = redact::words(&build.command);
        }
        variant.jvm_options = redact::words(&variant.jvm_options);
        for (name, value) in &mut variant.workload_options {
            *value = redact::value(name, value).into_owned();
        }
    }
    plan
}

/// JSON without secrets in its texts; its keys stay, since they are those of stored formats.
pub fn redacted_json(redactor: &Redactor, json: &str) -> String {
    let (mut shown, mut rest) = (String::with_capacity(json.len()), json);
    while let Some(start) = rest.find('"') {
        let length = literal_bytes(&rest[start..]);
        let (literal, after) = rest[start..].split_at(length);
        shown.push_str(&rest[..start]);
        let text: Option<String> =
            if after.trim_start().starts_with(':') { None } else { serde_json::from_str(literal).ok() };
        match text.as_deref().map(|text| redactor.text(text)) {
            Some(clean) if Some(&*clean) != text.as_deref() => {
                shown.push_str(&serde_json::Value::from(&*clean).to_string());
            }
            _ => shown.push_str(literal),
        }
        rest = after;
    }
    shown.push_str(rest);
    shown
}

/// Length of the literal that begins here, with its quotes.
fn literal_bytes(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

/// Takes values out of all files of a folder. Links are not followed.
pub fn redact_files(folder: &Path, values: &[String], folders_deep: usize) -> io::Result<()> {
    if values.is_empty() {
        return Ok(());
    }
    let named = |path: &Path, e: io::Error| {
        io::Error::new(e.kind(), format!("cannot redact {}: {e}", path.display()))
    };
    for entry in folder.read_dir().map_err(|e| named(folder, e))?.flatten() {
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() && folders_deep > 0 {
            redact_files(&path, values, folders_deep - 1)?;
        } else if kind.is_file() {
            redact_file(&path, values).map_err(|e| named(&path, e))?;
        }
    }
    Ok(())
}

fn redact_file(path: &Path, values: &[String]) -> io::Result<()> {
    // In JSON a value may have escapes.
    let escaped = values.iter().map(|value| serde_json::Value::from(value.as_str()).to_string());
    let escaped = escaped.map(|literal| literal[1..literal.len() - 1].to_owned());
    let mut spelt: Vec<String> = values.iter().cloned().chain(escaped).collect();
    spelt.sort_by_key(|value| std::cmp::Reverse(value.len()));
    spelt.dedup();
    let finders: Vec<memmem::Finder<'_>> =
        spelt.iter().map(|value| memmem::Finder::new(value.as_bytes())).collect();
    let longest = spelt.first().map_or(0, String::len);
    let mut has_any = false;
    in_pieces(path, longest, &mut |piece, _| {
        has_any |= finders.iter().any(|finder| finder.find(piece).is_some());
        Ok(piece.len().saturating_sub(longest))
    })?;
    if !has_any {
        return Ok(());
    }
    write_whole(path, |out| {
        in_pieces(path, longest, &mut |piece, is_last| without(piece, is_last, longest, &finders, out))
    })
}

/// Reads a file in pieces. `take` returns how much of a piece is done; the rest is at the beginning of the next one.
fn in_pieces(
    path: &Path,
    longest: usize,
    take: &mut dyn FnMut(&[u8], bool) -> io::Result<usize>,
) -> io::Result<()> {
    let (mut file, mut piece) = (File::open(path)?, Vec::with_capacity(PIECE_BYTES + longest));
    loop {
        let read = Read::by_ref(&mut file).take(PIECE_BYTES as u64).read_to_end(&mut piece)?;
        let done = take(&piece, read == 0)?;
        if read == 0 {
            return Ok(());
        }
        piece.drain(..done);
    }
}

/// Writes a piece without the values, up to where one might begin that ends in the next piece; returns how much that is.
fn without(
    piece: &[u8],
    is_last: bool,
    longest: usize,
    finders: &[memmem::Finder<'_>],
    out: &mut dyn Write,
) -> io::Result<usize> {
    let until = if is_last { piece.len() } else { piece.len().saturating_sub(longest) };
    let mut at = 0;
    loop {
        let found =
            finders.iter().filter_map(|finder| Some((finder.find(&piece[at..])?, finder.needle().len())));
        match found.min_by_key(|(start, length)| (*start, std::cmp::Reverse(*length))) {
            Some((start, length)) if is_last || at + start < until => {
                out.write_all(&piece[at..at + start])?;
                out.write_all(REDACTED.as_bytes())?;
                at += start + length;
            }
            _ => {
                let end = at.max(until);
                out.write_all(&piece[at..end])?;
                return Ok(end);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_json_are_redacted_and_its_keys_and_form_stay() {
        let mut redactor = Redactor::default();
        redactor.learn_value("password", "pa\"ss\\w0rd");
        let json = r#"{"pa": "x pa\"ss\\w0rd y", "token": "t", "n": [1.50, "--password abc", "plain \u00e9 \" \\"]}"#;
        let want = r#"{"pa": "x <redacted> y", "token": "t", "n": [1.50, "--password <redacted>", "plain \u00e9 \" \\"]}"#;
        assert_eq!(redacted_json(&redactor, json), want);
    }

    #[test]
    fn values_are_taken_out_of_files_wherever_they_lie() {
        let folder = tempfile::tempdir().unwrap();
        let (path, value) = (folder.path().join("sub/server.log"), "s3cr3t-value".to_owned());
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        // Across the border of two pieces, at both ends, and next to each other.
        for before in [0, 1, PIECE_BYTES - 5, PIECE_BYTES, 2 * PIECE_BYTES - 12] {
            let text = format!("{}{value}{value} x\n{value}", "y".repeat(before));
            std::fs::write(&path, &text).unwrap();
            redact_files(folder.path(), std::slice::from_ref(&value), 1).unwrap();
            let got = std::fs::read_to_string(&path).unwrap();
            assert_eq!(got, text.replace(&value, REDACTED), "{before}");
        }
    }
}
