//! `assay load --from-...`: a scenario of what was recorded, or of what other tools have.

use crate::arguments::RecordingArguments;
use crate::failure::Failure;
use crate::output_file::{can_be_written, write_result};
use crate::{output, progress::BytesRead};
use assay_load::LoadError;
use assay_scenario::ScenarioError;
use assay_scenario::generate::{
    AccessLog, Generated, HarOptions, from_access_log, from_har, from_jmeter, from_openapi, from_postman,
};
use assay_text::file::read_text;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Longest archive that is read, bytes.
const HAR_BYTES_MAX: u64 = 512 << 20;
/// Longest file of another tool that is read, bytes.
const IMPORT_BYTES_MAX: u64 = 64 << 20;

/// Makes the scenario, and prints or writes it.
pub fn scenario(arguments: &RecordingArguments) -> Result<ExitCode, Failure> {
    let out = arguments.out.as_deref();
    out.map_or(Ok(()), can_be_written)?;
    let generated = if let Some(har) = &arguments.from_har {
        let options = HarOptions { host: arguments.host.clone(), with_static: arguments.with_static };
        from_har(&text_of(har, HAR_BYTES_MAX)?, &name_of(har), &options)
    } else if let Some(log) = &arguments.from_access_log {
        let file = fs_err::File::open(log).map_err(|error| Failure::input(error.to_string()))?;
        let total = file.metadata().ok().filter(|of| of.is_file()).map(|of| of.len());
        let shown = BytesRead::new(&format!("reading {}", log.display()), total);
        let trace = out.map(|out| name_of(&arrivals_of(out)));
        let of = AccessLog { named: &name_of(log), trace: trace.as_deref() };
        from_access_log(BufReader::new(Counted { file, bytes: 0, shown }), &of)
    } else {
        let RecordingArguments { from_openapi: openapi, from_postman: postman, from_jmeter: jmeter, .. } =
            arguments;
        let imports: [(&Option<PathBuf>, Importer); 3] =
            [(openapi, from_openapi), (postman, from_postman), (jmeter, from_jmeter)];
        let given = imports.into_iter().find_map(|(file, import)| Some((file.as_deref()?, import)));
        let (file, import) =
            given.ok_or_else(|| Failure::input("name what a scenario is made of: --from-har FILE"))?;
        import(&text_of(file, IMPORT_BYTES_MAX)?, &name_of(file))
    };
    write(generated.map_err(LoadError::from)?, out)?;
    Ok(ExitCode::SUCCESS)
}

/// Makes a scenario of the text of a file with this name.
type Importer = fn(&str, &str) -> Result<Generated, ScenarioError>;

fn text_of(path: &Path, bytes_max: u64) -> Result<String, Failure> {
    read_text(path, bytes_max).map_err(|error| unreadable(path, &error))
}

fn write(Generated { text, base_url, trace }: Generated, out: Option<&Path>) -> Result<(), Failure> {
    let Some(out) = out else { return output::print_text(&text) };
    if let Some(trace) = trace {
        write_result(&arrivals_of(out), |to| to.write_all(trace.as_bytes()))?;
    }
    write_result(out, |to| to.write_all(text.as_bytes()))?;
    let url = base_url.unwrap_or_else(|| "URL".to_owned());
    say!("load it with: assay load {url} --scenario {}", out.display());
    Ok(())
}

/// The file of arrivals beside a scenario.
fn arrivals_of(out: &Path) -> PathBuf {
    let mut path = out.as_os_str().to_owned();
    path.push(".arrivals");
    path.into()
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

fn unreadable(path: &Path, error: &assay_text::file::TextError) -> Failure {
    use assay_text::file::TextError;
    Failure::input(match error {
        TextError::File(cause) => format!("cannot read {}: {cause}", path.display()),
        TextError::Line(line, what) => format!("{}:{line}: {what}", path.display()),
    })
}

/// Shows how much was read.
struct Counted {
    file: fs_err::File,
    bytes: u64,
    shown: BytesRead,
}

impl Read for Counted {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let length = self.file.read(to)?;
        self.bytes += length as u64;
        self.shown.show(self.bytes);
        Ok(length)
    }
}
