//! Which options `assay flags` is asked about: those of a process, of what was typed, or of a file.

use crate::arguments::FlagsArguments;
use crate::command::process::{jvm_named, options_of};
use crate::command::what_file::said_of;
use crate::failure::Failure;
use assay_jdk::options::{WrittenOption, options_in_file, options_in_words};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Of a file with options; the longest that are known have some 20 KB.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Options, and whose they are.
pub struct Asked {
    pub options: Vec<WrittenOption>,
    /// Of each option of a file, the line that it stands in.
    pub lines: Vec<u64>,
    pub pid: Option<u32>,
    pub file: Option<String>,
    /// The release of the process.
    pub own: Option<u32>,
}

/// The options that are meant.
pub fn asked_of(arguments: &FlagsArguments) -> Result<Asked, Failure> {
    if let Some(path) = &arguments.file {
        return of_file(path);
    }
    let what = arguments.what.as_deref().unwrap_or_default();
    if let Ok(pid) = what.parse() {
        return of_process(pid);
    }
    let path = Path::new(what.strip_prefix('@').unwrap_or(what));
    if path.is_file() {
        return of_file(path);
    }
    let is_list = what.trim_start().starts_with(['-', '@']) && !what.trim().contains('\n');
    if !is_list && !what.trim().is_empty() {
        let options = options_in_file(what);
        if !options.is_empty() {
            return Ok(typed(options));
        }
        if let Some(pid) = jvm_named(what)? {
            return of_process(pid);
        }
    }
    split(what).map(typed)
}

fn typed(options: Vec<WrittenOption>) -> Asked {
    Asked { options, lines: Vec::new(), pid: None, file: None, own: None }
}

fn of_file(path: &Path) -> Result<Asked, Failure> {
    let name = path.display().to_string();
    let text = read(path).map_err(|e| Failure::input(format!("{name} cannot be read: {e}")))?;
    let options = options_in_file(&text);
    if options.is_empty() {
        let said = said_of(path).map_or_else(String::new, |said| format!(": {said}"));
        return Err(Failure::input(format!("{name} has no options of a JVM{said}")));
    }
    Ok(Asked { file: Some(name), lines: lines_of(&options, &text), ..typed(options) })
}

/// Of each option the line that it stands in: options come in the order of the file, but not in that of its lines where some are joined.
fn lines_of(options: &[WrittenOption], text: &str) -> Vec<u64> {
    let numbered = || (1_u64..).zip(text.lines());
    let mut last = 1;
    let mut line_of = |option: &WrittenOption| {
        let word = option.text.split_whitespace().next().unwrap_or_default();
        let found = numbered().skip_while(|(number, _)| *number < last).find(|(_, line)| line.contains(word));
        last = found.map_or(last, |(number, _)| number);
        last
    };
    options.iter().map(&mut line_of).collect()
}

fn read(path: &Path) -> std::io::Result<String> {
    let file = File::open(path)?;
    // Opening a pipe would wait, and reading one might never end.
    if !file.metadata()?.is_file() {
        return Err(std::io::Error::other("not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn split(text: &str) -> Result<Vec<WrittenOption>, Failure> {
    let words = shell_words::split(text)
        .map_err(|e| Failure::input(format!("{text:?} cannot be split into options: {e}")))?;
    let options = options_in_words(&words).map_err(|word| {
        Failure::input(format!(
            "{word:?} is neither an option nor a process: no running JVM has it in its name, and no file is called so\n  \
             assay flags 4242, or: assay flags '-Xmx4g -XX:+UseZGC'; to list the running JVMs: assay memory"
        ))
    })?;
    if options.is_empty() {
        return Err(Failure::input("no option is given\n  assay flags '-Xmx4g -XX:+UseZGC'"));
    }
    // A command may name files with more options; one that is not here is not judged.
    let options = options.into_iter().flat_map(|text| {
        let named = text.strip_prefix('@').and_then(|path| read(Path::new(path)).ok());
        named
            .map(|text| options_in_file(&text))
            .unwrap_or_else(|| vec![WrittenOption { text, releases: 0..=u32::MAX }])
    });
    Ok(options.collect())
}

fn of_process(pid: u32) -> Result<Asked, Failure> {
    let Some(found) = options_of(pid)? else {
        return Err(Failure::input(format!(
            "process {pid} is not a JVM\n  to list the running JVMs: assay memory"
        )));
    };
    if found.options.is_empty() {
        return Err(Failure::input(format!("JVM {pid} has no options that set flags")));
    }
    let options = found.options.into_iter().map(|text| WrittenOption { text, releases: 0..=u32::MAX });
    Ok(Asked { pid: Some(pid), own: found.feature, ..typed(options.collect()) })
}
