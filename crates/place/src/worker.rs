//! The far side: a worker does one task for a program on another host.

use crate::files::{self, Receiver, read_paths};
use crate::message::{Message, Task};
use assay_model::{Plan, RunEvent};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Why a task was not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// In words.
    pub message: String,
    /// Whether the task is wrong, and not this host.
    pub is_of_task: bool,
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Refusal {
        Refusal { message: error.to_string(), is_of_task: false }
    }
}

/// Does the task that `input` brings and reports to `output`. `run` gets the task, the folder with the study's files, and a listener to
/// events; it returns the plan, and the run directory of the blocks. The end of the input sets `stop`. Returns whether the task was done.
///
/// # Errors
/// Of the output. Everything else is reported to the other side.
pub fn work(
    (input, mut output): (impl Read + Send + 'static, impl Write),
    (version, host): (&str, &str),
    stop: &Arc<AtomicBool>,
    run: impl FnOnce(&Task, &Path, &mut dyn FnMut(&RunEvent)) -> Result<(Plan, Option<PathBuf>), Refusal>,
) -> io::Result<bool> {
    Message::Hello { version: version.to_owned(), host: host.to_owned() }.write(&mut output)?;
    let folder = tempfile::Builder::new().prefix("assay-block-").tempdir()?;
    let done = received(input, folder.path(), version, stop).and_then(|task| {
        // A listener has no way to fail: an output that is gone sets the flag.
        let (plan, made) = run(&task, folder.path(), &mut |event| {
            if Message::Event(Box::new(event.clone())).write(&mut output).is_err() {
                stop.store(true, Ordering::SeqCst);
            }
        })?;
        Ok((task, plan, made))
    });
    let is_done = done.is_ok();
    match done {
        Ok((task, plan, _)) if task.blocks.is_empty() => {
            Message::Plan(Box::new(plan)).write(&mut output)?;
            Message::Sent.write(&mut output)
        }
        Ok((_, _, Some(made))) => {
            let made = made.canonicalize()?;
            let paths = read_paths(&made, std::slice::from_ref(&made))?;
            files::send(&made, &paths, &mut output)
        }
        Ok((_, _, None)) => Message::Sent.write(&mut output),
        Err(Refusal { message, is_of_task }) => Message::Failed { message, is_of_task }.write(&mut output),
    }?;
    Ok(is_done)
}

/// Receives the task and its files. After them the input is watched: its end stops the run.
fn received(
    input: impl Read + Send + 'static,
    folder: &Path,
    version: &str,
    stop: &Arc<AtomicBool>,
) -> Result<Task, Refusal> {
    let mut input = BufReader::new(input);
    let of_task = |message: String| Refusal { message, is_of_task: true };
    let Some(Message::Task(task)) = Message::read(&mut input)? else {
        return Err(of_task("the first message is not a task".to_owned()));
    };
    if task.version != version {
        return Err(of_task(format!("this is Assay {version}, and the task is of {}", task.version)));
    }
    let mut receiver = Receiver::new(folder);
    loop {
        match Message::read(&mut input)? {
            Some(Message::File { path, base64, is_executable }) => {
                receiver.take(&path, &base64, is_executable)?;
            }
            Some(Message::Sent) => break,
            Some(_) => return Err(of_task("a file was expected".to_owned())),
            None => return Err(Refusal { message: "the connection broke".to_owned(), is_of_task: false }),
        }
    }
    let stop = Arc::clone(stop);
    thread::spawn(move || {
        // Nothing more is sent: this waits for the end.
        let _ = io::copy(&mut input, &mut io::sink());
        stop.store(true, Ordering::SeqCst);
    });
    Ok(task)
}
