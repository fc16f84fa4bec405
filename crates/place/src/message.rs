//! Messages between this program and a worker: lines of JSON, so that engines may carry them as text.

use assay_model::{Plan, RunEvent};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, Read, Write};

/// Longest line: a plan of thousands of trials, or a piece of a file.
const LINE_BYTES_MAX: u64 = 64 << 20;
/// Lines before a greeting: a shell's start-up files may print some.
const NOISE_LINES_MAX: usize = 1_000;

/// What a worker is to do. Its files follow, then [`Message::Sent`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Version of Assay of the sender. A worker of another version refuses the task.
    pub version: String,
    /// The study file, relative to the files that follow.
    pub study: String,
    /// Whether its short form is run.
    pub quick: bool,
    /// Whether settings of the host may be changed while trials run.
    pub allow_host_changes: bool,
    /// Architecture of the host that made the plan: blocks of another one would be of another study.
    pub architecture: Option<String>,
    /// Numbers of the blocks. Empty: only the plan is wanted.
    pub blocks: Vec<u32>,
}

/// A message of either side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Message {
    /// First, from a worker.
    Hello { version: String, host: String },
    /// To a worker.
    Task(Task),
    /// The next bytes of a file, in base64; its path is relative.
    File { path: String, base64: String, is_executable: bool },
    /// All files have been sent. From a worker: the task is done.
    Sent,
    /// The plan of the study on the worker's host.
    Plan(Box<Plan>),
    /// Something that happened in the run.
    Event(Box<RunEvent>),
    /// The task was not done.
    Failed { message: String, is_of_task: bool },
}

impl Message {
    /// Writes it as a line, and flushes.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut line = serde_json::to_string(self)?;
        line.push('\n');
        out.write_all(line.as_bytes())?;
        out.flush()
    }

    /// Reads the next one; `None` at the end of the input.
    ///
    /// # Errors
    /// Those of the input; a line that is too long or not a message.
    pub(crate) fn read(input: &mut dyn BufRead) -> io::Result<Option<Message>> {
        let Some(line) = next_line(input)? else { return Ok(None) };
        let message =
            serde_json::from_str(&line).map_err(|e| io::Error::other(format!("{e} in {:?}", head(&line))))?;
        Ok(Some(message))
    }

    /// Reads up to the greeting of a worker. Other lines before it are skipped, the last one is in the error.
    ///
    /// # Errors
    /// The input ends first.
    pub(crate) fn read_hello(input: &mut dyn BufRead) -> io::Result<(String, String)> {
        let mut last = String::new();
        for _ in 0..NOISE_LINES_MAX {
            let Some(line) = next_line(input)? else { break };
            if let Ok(Message::Hello { version, host }) = serde_json::from_str(&line) {
                return Ok((version, host));
            }
            last = line;
        }
        Err(io::Error::other(head(&last).trim().to_owned()))
    }
}

fn next_line(input: &mut dyn BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    input.take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
    match line.pop() {
        None => Ok(None),
        Some(b'\n') => Ok(Some(String::from_utf8_lossy(&line).into_owned())),
        Some(_) if line.len() as u64 + 1 == LINE_BYTES_MAX => Err(io::Error::other("a line is too long")),
        Some(_) => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the connection broke within a message")),
    }
}

/// The beginning of a line, for a message.
fn head(line: &str) -> &str {
    const CHARS_MAX: usize = 200;
    line.char_indices().nth(CHARS_MAX).map_or(line, |(end, _)| &line[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_is_found_behind_what_a_shell_prints() {
        let mut line = Vec::new();
        let hello = Message::Hello { version: "1".to_owned(), host: "a".to_owned() };
        hello.write(&mut line).expect("it is written");
        let input = [b"Last login: today\n{}\n".as_slice(), &line].concat();
        assert_eq!(
            Message::read_hello(&mut &input[..]).expect("a greeting"),
            ("1".to_owned(), "a".to_owned())
        );
        let error = Message::read_hello(&mut &b"sh: assay: not found\n"[..]).expect_err("none");
        assert_eq!(error.to_string(), "sh: assay: not found");
    }

    #[test]
    fn a_torn_message_and_other_text_are_errors_and_the_end_is_none() {
        assert!(Message::read(&mut &b""[..]).expect("the end").is_none());
        assert!(Message::read(&mut &b"\"sent\"\n"[..]).expect("one").is_some());
        for wrong in [&b"\"sent\""[..], b"sent\n", b"{\"task\":1}\n", b"\xff\n"] {
            assert!(Message::read(&mut &wrong[..]).is_err(), "{wrong:?}");
        }
    }
}
