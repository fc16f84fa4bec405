//! Ready-made scenarios, which are part of the program: those of the workloads.

/// A scenario file of `workloads/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadyMade {
    /// Its name: that of the workload, and of the size of its data where there are several.
    pub name: &'static str,
    /// The workload whose server answers it.
    pub workload: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! scenarios {
    ($($name:literal = $workload:literal / $file:literal)*) => {
        &[$(ReadyMade {
            name: $name,
            workload: $workload,
            text: include_str!(concat!("../../../workloads/", $workload, "/", $file)),
        }),*]
    };
}

/// All of them, by name.
pub const READY_MADE: &[ReadyMade] = scenarios! {
    "airline" = "airline" / "scenario.toml"
    "brokerage-small" = "brokerage" / "scenario-small.toml"
    "brokerage-standard" = "brokerage" / "scenario-standard.toml"
    "chat" = "chat" / "scenario.toml"
    "kiosk" = "kiosk" / "scenario.toml"
    "probes" = "probes" / "scenario.toml"
    "supermarket-small" = "supermarket" / "scenario-small.toml"
    "supermarket-standard" = "supermarket" / "scenario-standard.toml"
};

impl ReadyMade {
    /// The scenario of this name.
    pub fn of(name: &str) -> Option<ReadyMade> {
        READY_MADE.iter().copied().find(|scenario| scenario.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;
    use std::path::Path;

    #[test]
    fn every_scenario_of_a_workload_is_part_of_the_program_and_is_one() {
        let workloads = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads");
        let folders = std::fs::read_dir(workloads).expect("a folder").flatten();
        let files = folders.filter_map(|folder| std::fs::read_dir(folder.path()).ok()).flatten().flatten();
        let is_one = |name: &str| name.starts_with("scenario") && name.ends_with(".toml");
        let count = files.filter(|file| file.file_name().to_str().is_some_and(is_one)).count();
        assert_eq!(READY_MADE.len(), count);
        for ready_made in READY_MADE {
            Scenario::parse(ready_made.text, ready_made.name).unwrap_or_else(|e| panic!("{e}"));
            assert!(ready_made.name.starts_with(ready_made.workload), "{}", ready_made.name);
        }
    }
}
