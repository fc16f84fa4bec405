//! A JVM of this host, and why one did not start.

use assay_jdk::modes::AddressSpace;
use assay_model::JvmFacts;
use std::path::{Path, PathBuf};

pub const REASON_CHARS_MAX: usize = 200;

/// A JVM with the addresses of its process.
pub struct Jvm {
    pub facts: JvmFacts,
    pub space: AddressSpace,
}

/// Its launcher.
pub fn java_of(facts: &JvmFacts) -> PathBuf {
    Path::new(&facts.home).join("bin/java")
}

/// Why a JVM did not start, from what it printed: the line that names the cause, without those that only say that there
/// was one.
pub fn reason(text: &str) -> String {
    const EMPTY_WORDS: [&str; 4] = [
        "Error occurred during initialization of VM",
        "Error: Could not create the Java Virtual Machine.",
        "Error: A fatal exception has occurred. Program will exit.",
        "There is insufficient memory for the Java Runtime Environment to continue.",
    ];
    const CAUSES: [&str; 9] = [
        "Could not reserve",
        "not supported",
        "Unrecognized",
        "Invalid",
        "must be",
        "too small",
        "Too small",
        "exceeds",
        "rror",
    ];
    let lines = || text.lines().map(|line| line.trim().trim_start_matches('#').trim());
    let is_said = |line: &&str| !line.is_empty() && !EMPTY_WORDS.contains(line);
    let causes = lines().filter(is_said).filter(|line| CAUSES.iter().any(|cause| line.contains(cause)));
    let found: Vec<&str> = causes.take(2).collect();
    let words = match found.as_slice() {
        [] => lines().rfind(is_said).unwrap_or("it ended without a word").to_owned(),
        causes => causes.join("; "),
    };
    words.chars().map(|c| if c.is_control() { ' ' } else { c }).take(REASON_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::reason;

    #[test]
    fn the_reason_is_the_line_with_the_cause() {
        let text = "Error occurred during initialization of VM\nCould not reserve enough space for 2355200KB object heap\n";
        assert_eq!(reason(text), "Could not reserve enough space for 2355200KB object heap");
        let text = "Unrecognized VM option 'UseCompactObjectHeaders'\nError: Could not create the Java Virtual Machine.\nError: A fatal exception has occurred. Program will exit.\n";
        assert_eq!(reason(text), "Unrecognized VM option 'UseCompactObjectHeaders'");
        assert_eq!(reason(""), "it ended without a word");
        assert_eq!(reason("something\nodd\n"), "odd");
    }
}
