//! The counted form of a study: its variants in emulated guests, by the instructions of so many requests. Whoever compares two servers
//! asks for it beside what is measured on this machine.

use crate::check::checked::{Checked, check};
use crate::error::StudyError;
use crate::file::document::Document;
use crate::file::study::{DesignTable, EmulatedTable, LoadTable, Study, study_schema};
use crate::file::units::Seconds;
use crate::plan::prepare::Prepared;
use crate::runner::guest;
use assay_model::EmulatedProcessor;

/// How much is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountedForm {
    /// Guests of each variant; fewer than 3 give no interval.
    pub blocks: u32,
    /// Requests before counting.
    pub warm_up_requests: u64,
    /// Requests that are counted.
    pub window_requests: u64,
}

impl Default for CountedForm {
    fn default() -> CountedForm {
        CountedForm { blocks: 3, warm_up_requests: 10_000, window_requests: 500 }
    }
}

impl Checked {
    /// The study with the same variants in guests: one user who does not think makes a number of requests, on one virtual processor. Run it like
    /// every other: `emulated_user_instructions_per_request` is its result, and the plan's `expected_s` is how long it takes, about.
    ///
    /// # Errors
    /// Why this server cannot be counted here, in one sentence for each reason.
    pub fn counted(&self, form: CountedForm) -> Result<Prepared, String> {
        let mut study = counted_form(self.study.clone(), form)?;
        // A benchmark program has no load, and is refused as what it is.
        study.settings.load = study.settings.load.filter(|_| self.workload.program.server().is_some());
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
        primary_metric: None,
        observe: None,
        capacity: None,
        quick: None,
        published: Vec::new(),
        claim: Vec::new(),
        parts: Vec::new(),
        ..study
    })
}
