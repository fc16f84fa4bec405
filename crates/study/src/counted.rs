//! The counted form of a study: its variants in emulated guests, by the instructions of so many requests. Whoever compares two servers
//! asks for it beside what is measured on this machine.

use crate::check::checked::{Checked, check};
use crate::error::StudyError;
use crate::file::document::Document;
use crate::file::study::{DesignTable, EmulatedTable, LoadTable, Study, study_schema};
use crate::file::units::Seconds;
use crate::plan::prepare::Prepared;
use crate::runner::guest;
use assay_launch::JVM_OPTIONS;
use assay_model::{EmulatedProcessor, metric};

/// HotSpot's C1 compiles a method after some hundred calls. C2 needs thousands, and when it compiles is left to chance, so that counts of equal
/// servers differ for long (docs/emulation.md has the figures).
const C1_ALONE: &str = "-XX:TieredStopAtLevel=1";

/// How much is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountedForm {
    /// Guests of each variant; fewer than 3 give no interval.
    pub blocks: u32,
    /// Requests before counting.
    pub warm_up_requests: u64,
    /// Requests that are counted.
    pub window_requests: u64,
    /// JVM options of both sides before their own, where their commands take any.
    pub jvm_options: &'static [&'static str],
}

impl Default for CountedForm {
    fn default() -> CountedForm {
        CountedForm { blocks: 3, warm_up_requests: 1_000, window_requests: 500, jvm_options: &[C1_ALONE] }
    }
}

impl Checked {
    /// The study with the same variants in guests: one user who does not think makes a number of requests, on one virtual processor. Run it like
    /// every other: `emulated_user_instructions_without_jit_per_request` is its result, and the plan's `expected_s` is how long it takes, about.
    ///
    /// # Errors
    /// Why this server cannot be counted here, in one sentence for each reason.
    pub fn counted(&self, form: CountedForm) -> Result<Prepared, String> {
        let mut study = counted_form(self.study.clone(), form)?;
        // A benchmark program has no load, and is refused as what it is.
        let is_server = self.workload.program.server().is_some();
        study.settings.load = study.settings.load.filter(|_| is_server);
        study.primary_metric = study.primary_metric.filter(|_| is_server);
        let text = study.to_toml()?;
        let document = Document::parse(&self.document.file, &text, &study_schema()).without_lines();
        let checked = check(document, &text).map_err(|found| said(&StudyError::Diagnostics(found)))?;
        let prepared = checked.prepare(false).map_err(|error| said(&error))?;
        guest::check(&prepared)?;
        Ok(prepared)
    }
}

/// The messages of an error, without places in a file that nobody wrote.
fn said(error: &StudyError) -> String {
    match error {
        StudyError::Diagnostics(found) => {
            let messages: Vec<&str> = found.iter().map(|one| one.message.as_str()).collect();
            messages.join("; ")
        }
        other => other.to_string(),
    }
}

fn counted_form(study: Study, form: CountedForm) -> Result<Study, String> {
    if !study.fault.is_empty() {
        return Err("faults cannot be made in an emulated guest".to_owned());
    }
    let is_level = |(place, _): &(String, &LoadTable)| place.starts_with("factor.");
    if study.loads().iter().any(is_level) {
        return Err("its variants differ in load, and a guest makes the same requests to all".to_owned());
    }
    let own = study.emulated.clone().unwrap_or_default();
    let mut settings = study.settings.clone();
    if study.to_toml()?.contains(JVM_OPTIONS) {
        settings.jvm_options.splice(0..0, form.jvm_options.iter().map(|option| (*option).to_owned()));
    }
    settings.load = Some(LoadTable { think: Some(Seconds(0.0)), ..LoadTable::closed(1) });
    Ok(Study {
        settings,
        emulated: Some(EmulatedTable {
            processor: own.processor.or(Some(EmulatedProcessor::Current)),
            warm_up: None,
            window: None,
            warm_up_requests: Some(form.warm_up_requests),
            window_requests: Some(form.window_requests),
            ..own
        }),
        design: DesignTable { blocks: Some(form.blocks), repeats_max: Some(0), ..DesignTable::default() },
        primary_metric: Some(metric::EMULATED_USER_INSTRUCTIONS_WITHOUT_JIT_PER_REQUEST.to_owned()),
        observe: None,
        capacity: None,
        quick: None,
        published: Vec::new(),
        claim: Vec::new(),
        parts: Vec::new(),
        ..study
    })
}
