//! `assay report --check-claims`: what a text says about changes, held against its own numbers and a run.

use crate::failure::Failure;
use crate::output;
use assay_model::{ClaimReport, schema};
use assay_report::{LeavesShown, TerminalView, check_claims, render_claims_terminal};
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;

/// Longest text that is read.
const TEXT_BYTES_MAX: u64 = 4 << 20;

/// Checks a text, a file or standard input; exit code 1 when a claim is wrong.
pub fn check(text_or_file: &str, run: Option<&Path>, json: bool) -> Result<ExitCode, Failure> {
    let (name, text) = read(text_or_file)?;
    let run = run.map(super::super::run::load).transpose()?;
    let summary = match &run {
        None => None,
        Some(run) => match &run.summary {
            Some(summary) => Some(summary),
            None => {
                return Err(Failure::input(
                    "this run has no summary.json yet: run it to its end with --resume",
                ));
            }
        },
    };
    let report = ClaimReport {
        schema: schema::CLAIMS.to_owned(),
        text: name,
        study: summary.map(|s| s.study.clone()),
        claims: check_claims(&text, summary),
        problems: Vec::new(),
    };
    if json {
        output::print_json(&report)?;
    } else {
        let view =
            TerminalView { width: output::width(), color: output::is_coloured(), leaves: LeavesShown::All };
        output::print(|out| out.write_all(render_claims_terminal(&report, view).as_bytes()))?;
    }
    let is_wrong = report.claims.iter().any(|c| c.verdict.is_wrong());
    Ok(if is_wrong { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Name and content of what was given: standard input, a file, or else the text itself.
fn read(text_or_file: &str) -> Result<(String, String), Failure> {
    let path = Path::new(text_or_file);
    let from: (String, Box<dyn Read>) = if text_or_file == "-" {
        ("standard input".to_owned(), Box::new(io::stdin()))
    } else if path.is_file() {
        (
            text_or_file.to_owned(),
            Box::new(fs_err::File::open(path).map_err(|e| Failure::input(e.to_string()))?),
        )
    } else if !text_or_file.contains(char::is_whitespace) {
        // One word makes no claim: it was meant as a file.
        return Err(Failure::input(format!("there is no file {text_or_file}; a text is given in quotes")));
    } else {
        return Ok(("the text given".to_owned(), text_or_file.to_owned()));
    };
    let mut bytes = Vec::new();
    from.1
        .take(TEXT_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| Failure::input(format!("cannot read {}: {e}", from.0)))?;
    if bytes.len() as u64 > TEXT_BYTES_MAX {
        return Err(Failure::input(format!("{} is longer than {} MiB", from.0, TEXT_BYTES_MAX >> 20)));
    }
    Ok((from.0, String::from_utf8_lossy(&bytes).into_owned()))
}
