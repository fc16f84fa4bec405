//! Ready-made studies, which are part of the program: a release without a checkout has them, too.

use crate::file::study::Study;
use assay_model::ReadyMadeStudy;

/// A study file of `studies/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadyMade {
    /// Its name, without the file's ending.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! studies {
    ($($name:literal)*) => {
        &[$(ReadyMade { name: $name, text: include_str!(concat!("../../../../studies/", $name, ".toml")) }),*]
    };
}

/// All of them, by name.
pub const READY_MADE: &[ReadyMade] = studies! {
    "airline-20-jvms" "airline-kills" "airline-open" "airline-scale" "airline-small" "airline-stores" "chat-connections" "chat-emulated" "check"
    "compressed-references" "contended-atomics"
    "emulated-comparisons" "huge-pages" "jdk-line" "jdk-line-jmh" "jdk-versions" "lse" "memory-pressure"
    "non-java-memory" "non-java-memory-accessors" "non-java-memory-buffers" "non-java-memory-swapping" "non-java-memory-trimming" "own-server"
    "power-pages" "power-pages-x86" "power9-gc-threads" "power9-heap" "power9-practices" "power9-processors" "power9-receive-queue" "reference-modes"
    "reference-modes-brokerage" "resize" "threads" "tuned-flags" "what-disturbs"
};

impl ReadyMade {
    /// The study of this name; `NAME.toml` names it, too.
    pub fn of(name: &str) -> Option<ReadyMade> {
        let name = name.strip_suffix(".toml").unwrap_or(name);
        READY_MADE.iter().copied().find(|study| study.name == name)
    }

    /// Its entry in a list of studies.
    ///
    /// # Errors
    /// The text is not that of a study.
    pub fn in_short(self) -> Result<ReadyMadeStudy, String> {
        let study: Study = toml::from_str(self.text).map_err(|e| format!("{}: {e}", self.name))?;
        Ok(ReadyMadeStudy {
            name: self.name.to_owned(),
            question: study.question,
            workload: study.workload,
            has_short_form: study.quick.is_some(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn every_file_of_the_folder_is_part_of_the_program() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies");
        let files = std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path());
        let toml = files.filter(|path| path.extension().is_some_and(|end| end == "toml"));
        let names: BTreeSet<String> =
            toml.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
        let known: BTreeSet<String> = READY_MADE.iter().map(|study| study.name.to_owned()).collect();
        assert_eq!(known, names);
    }

    #[test]
    fn each_has_a_question_and_the_name_of_its_file() {
        for study in READY_MADE {
            let short = study.in_short().expect("a study");
            let text: Study = toml::from_str(study.text).expect("a study");
            assert!(!short.question.is_empty() && text.name == study.name, "{}", study.name);
        }
        assert_eq!(ReadyMade::of("threads.toml"), ReadyMade::of("threads"));
        assert_eq!(ReadyMade::of("thread"), None);
    }

    /// Two machines are compared, and nothing else.
    #[test]
    fn the_sides_of_power_pages_differ_in_their_machine_alone() {
        let sides = ["power-pages", "power-pages-x86"].map(|name| {
            let text = ReadyMade::of(name).expect("a study").text;
            let mut study: Study = toml::from_str(text).expect("a study");
            let machine = study.guest.as_mut().map(|guest| &mut guest.machine).expect("a guest");
            *machine = assay_model::GuestMachine::Power9;
            for text in [&mut study.name, &mut study.question, &mut study.background] {
                text.clear();
            }
            study.published.clear();
            study.to_toml().expect("a text")
        });
        assert_eq!(sides[0], sides[1]);
    }

    #[test]
    fn the_page_of_papers_names_every_study_with_a_published_figure_and_only_studies_that_are_there() {
        let page = include_str!("../../../../docs/explanation/papers.md");
        let mut named: Vec<&str> = page.split("assay run ").skip(1).collect();
        named.iter_mut().for_each(|rest| *rest = rest.split(['`', ' ']).next().expect("a word"));
        for name in named.iter().filter(|name| **name != "STUDY") {
            assert!(ReadyMade::of(name).is_some(), "{name}");
        }
        for study in READY_MADE {
            let text: Study = toml::from_str(study.text).expect("a study");
            let has_figure = !text.published.is_empty() || !text.claim.is_empty();
            assert!(!has_figure || named.contains(&study.name), "{}", study.name);
        }
    }
}
