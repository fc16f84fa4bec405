//! Two servers that run at the same time, from what was typed.

use crate::arguments::{GateFilesArguments, PairArguments};
use crate::command::gate::{self, Usable};
use crate::failure::Failure;
use crate::seed;
use assay_model::GateCase;
use assay_study::{AbCommand, AbQuestion, Size};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Users of a closed loop: enough to keep a server busy, few enough that none waits long.
pub const USERS: u32 = 4;
/// Length of a window: some hundred requests, and several windows in a pair's time.
const WINDOW: Duration = Duration::from_secs(5);

/// A command as it was typed, in its folder; `option` says where.
pub fn command_of(option: &str, command: &str, folder: Option<&PathBuf>) -> Result<AbCommand, Failure> {
    let directory = match folder {
        Some(folder) if !folder.is_dir() => {
            return Err(Failure::input(format!("there is no folder {}", folder.display())));
        }
        Some(folder) => absolute(folder)?,
        None => absolute(Path::new("."))?,
    };
    if !command.contains("{port}") {
        return Err(Failure::input(format!(
            "the command of {option} has no {{port}}: each server gets a free port of its own\n  for example: java -jar shop.jar --server.port={{port}}"
        )));
    }
    Ok(AbCommand { command: command.to_owned(), directory: Some(directory), jvm_options: Vec::new() })
}

/// The question of two servers, with a closed loop of requests for `/`.
pub fn question(sides: [AbCommand; 2], seed: u64) -> AbQuestion {
    AbQuestion {
        sides,
        url_path: "/".to_owned(),
        scenario: None,
        rate_per_s: None,
        users: USERS,
        jvm: None,
        heap: None,
        window: WINDOW,
        seed,
    }
}

/// What is asked of two servers.
pub fn question_of(
    sides: [AbCommand; 2],
    pair: &PairArguments,
    heap: Option<Size>,
) -> Result<AbQuestion, Failure> {
    let usual = question(sides, pair.seed.unwrap_or_else(seed::any));
    Ok(AbQuestion {
        url_path: pair.url_path.clone().unwrap_or(usual.url_path),
        scenario: pair.scenario.as_deref().map(absolute).transpose()?,
        rate_per_s: pair.law.rate,
        users: pair.law.users.unwrap_or(usual.users),
        jvm: pair.java.clone(),
        heap,
        window: pair.window.unwrap_or(usual.window),
        ..usual
    })
}

/// Reports the verdicts on the limit. The exit code is 3 if no figure has an interval, so that nothing is known.
pub fn conclude(
    command: &str,
    files: &GateFilesArguments,
    (cases, is_known): (&[GateCase], bool),
    markdown: &dyn Fn() -> String,
) -> Result<ExitCode, Failure> {
    gate::tell(cases);
    let bad = (!is_known).then(|| "no figure has an interval".to_owned());
    gate::write_cases(files, (command, bad), cases, markdown)?;
    Ok(gate::exit_code(if is_known { Usable::Yes } else { Usable::OneSide }, cases))
}

pub fn absolute(path: &Path) -> Result<String, Failure> {
    let path = std::path::absolute(path).map_err(|e| Failure::input(e.to_string()))?;
    Ok(path.to_string_lossy().into_owned())
}
