//! A process as people name it.

/// A process: its number, or a part of its program's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessName {
    /// Its number.
    Pid(u32),
    /// A part of the name that `assay memory` lists it with.
    Program(String),
}

/// Reads one.
pub fn parse_process(text: &str) -> Result<ProcessName, String> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let wrong = || "a PID is a whole number from 1 on; to list the running JVMs: assay memory".to_owned();
    if is_number(text) {
        return text.parse().ok().filter(|pid| *pid > 0).map(ProcessName::Pid).ok_or_else(wrong);
    }
    let is_negative = text.strip_prefix('-').is_some_and(is_number);
    if is_negative || text.trim().is_empty() {
        Err(wrong())
    } else {
        Ok(ProcessName::Program(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_a_number_and_all_else_is_a_name() {
        assert_eq!(parse_process("4242"), Ok(ProcessName::Pid(4242)));
        for name in ["Shop", "shop.jar", "7zip", "-shop"] {
            assert_eq!(parse_process(name), Ok(ProcessName::Program(name.to_owned())));
        }
        for wrong in ["", " ", "0", "-5", "99999999999"] {
            assert!(parse_process(wrong).is_err(), "{wrong}");
        }
    }
}
