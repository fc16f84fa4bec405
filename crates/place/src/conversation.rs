//! One task, from the greeting of its worker to its last file.

use crate::engine::Slots;
use crate::error::Fault;
use crate::files::{self, Receiver};
use crate::message::{Message, Task};
use assay_model::{Plan, RunEvent};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver as Channel, RecvTimeoutError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How often a wait looks at the stop flag.
const LOOK: Duration = Duration::from_millis(100);
/// A worker that was asked to stop ends its servers, which may take long.
const END_MAX: Duration = Duration::from_secs(90);
/// The end of what a worker printed, for a message.
const ERROR_BYTES_MAX: usize = 2_000;
/// Messages that wait here while this program is busy.
const WAITING_MAX: usize = 64;

/// The study as it is sent.
#[derive(Debug, Clone)]
pub(crate) struct Sent<'a> {
    pub task: Task,
    pub folder: &'a Path,
    pub files: &'a [PathBuf],
}

/// What a worker reports on the way.
#[derive(Debug)]
pub(crate) enum Reported {
    /// The engine has no host for it yet, for this reason.
    Waits(String),
    /// It answers, from a host of this name.
    Greeted(String),
    Plan(Box<Plan>),
    Event(Box<RunEvent>),
}

/// Has a worker do a task. Its files are received into `into`.
pub(crate) fn converse(
    (slots, slot): (&dyn Slots, usize),
    sent: &Sent<'_>,
    into: &Path,
    stop: &AtomicBool,
    on_report: &mut dyn FnMut(Reported),
) -> Result<(), Fault> {
    let command = slots.worker(slot, stop, &mut |why| on_report(Reported::Waits(why)))?;
    let mut worker = Worker::start(command, slots.needs())?;
    let done = worker.done(sent, into, stop, on_report);
    let printed = worker.end();
    done.map_err(|fault| match fault {
        Fault::Host(why) if !printed.is_empty() => Fault::Host(format!("{why}\n  {printed}")),
        fault => fault,
    })
}

/// A process of an engine. Dropped, it ends.
struct Worker {
    child: Child,
    input: Option<ChildStdin>,
    messages: Channel<std::io::Result<Option<Message>>>,
    greeting: Channel<std::io::Result<(String, String)>>,
    printed: Option<JoinHandle<String>>,
}

impl Worker {
    fn start(mut command: Command, (needed, install): (&str, &str)) -> Result<Worker, Fault> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|e| {
            Fault::Task(format!("{needed} cannot be started: {e}\n  where it is missing: {install}"))
        })?;
        let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(output), Some(errors)) = (output, errors) else {
            return Err(Fault::Host(format!("{needed} has no output")));
        };
        let (greeting, messages) = read_in_background(output);
        let printed = Some(thread::spawn(move || end_of(errors)));
        Ok(Worker { child, input, messages, greeting, printed })
    }

    fn done(
        &mut self,
        sent: &Sent<'_>,
        into: &Path,
        stop: &AtomicBool,
        on_report: &mut dyn FnMut(Reported),
    ) -> Result<(), Fault> {
        let broke = |e: std::io::Error| Fault::Host(e.to_string());
        let (version, host) =
            self.waited(stop, |worker, wait| worker.greeting.recv_timeout(wait))?.map_err(|e| {
                let said = e.to_string();
                Fault::Host(format!(
                    "no worker of Assay answered{}{said}",
                    if said.is_empty() { "" } else { ": " }
                ))
            })?;
        if version != sent.task.version {
            let ours = &sent.task.version;
            return Err(Fault::Task(format!(
                "{host} has Assay {version}, and this is {ours}: install the same there"
            )));
        }
        on_report(Reported::Greeted(host));
        if let Some(input) = &mut self.input {
            Message::Task(sent.task.clone()).write(input).map_err(broke)?;
            files::send(sent.folder, sent.files, input).map_err(broke)?;
        }
        let mut receiver = Receiver::new(into);
        loop {
            let message = self.waited(stop, |worker, wait| worker.messages.recv_timeout(wait))?;
            match message.map_err(broke)? {
                Some(Message::Plan(plan)) => on_report(Reported::Plan(plan)),
                Some(Message::Event(event)) => on_report(Reported::Event(event)),
                Some(Message::File { path, base64, is_executable }) => {
                    receiver.take(&path, &base64, is_executable).map_err(broke)?;
                }
                Some(Message::Sent) => return Ok(()),
                Some(Message::Failed { message, is_of_task: true }) => return Err(Fault::Task(message)),
                Some(Message::Failed { message, .. }) => return Err(Fault::Host(message)),
                Some(Message::Hello { .. } | Message::Task(_)) => {
                    return Err(Fault::Host("the worker sent a message that is not a worker's".to_owned()));
                }
                None => return Err(Fault::Host("the connection to the worker broke".to_owned())),
            }
        }
    }

    /// Waits for something of the worker. Ctrl-C closes its input, and then it has some time to end.
    fn waited<T>(
        &mut self,
        stop: &AtomicBool,
        receive: impl Fn(&Worker, Duration) -> Result<T, RecvTimeoutError>,
    ) -> Result<T, Fault> {
        loop {
            if stop.load(Ordering::SeqCst) {
                return Err(Fault::Stopped);
            }
            match receive(self, LOOK) {
                Ok(value) => return Ok(value),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Fault::Host("the worker ended".to_owned()));
                }
            }
        }
    }

    /// Ends it: the end of its input asks it to. Returns the end of what it printed.
    fn end(&mut self) -> String {
        drop(self.input.take());
        let began = Instant::now();
        while began.elapsed() < END_MAX && matches!(self.child.try_wait(), Ok(None)) {
            // Its last messages need room.
            let _ = self.messages.recv_timeout(LOOK);
        }
        self.kill();
        self.printed.take().and_then(|printed| printed.join().ok()).unwrap_or_default()
    }

    fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
    }
}

type Greeting = Channel<std::io::Result<(String, String)>>;
type Messages = Channel<std::io::Result<Option<Message>>>;

/// Reads a worker's output on a thread of its own, which ends with the output or when nobody listens.
fn read_in_background(output: ChildStdout) -> (Greeting, Messages) {
    let (greeted, greeting) = sync_channel(1);
    let (said, messages) = sync_channel(WAITING_MAX);
    thread::spawn(move || {
        let mut output = BufReader::new(output);
        let hello = Message::read_hello(&mut output);
        let is_worker = hello.is_ok();
        if greeted.send(hello).is_err() || !is_worker {
            return;
        }
        loop {
            let message = Message::read(&mut output);
            let is_last = !matches!(message, Ok(Some(_)));
            if said.send(message).is_err() || is_last {
                return;
            }
        }
    });
    (greeting, messages)
}

/// The last lines of what a worker printed.
fn end_of(mut errors: ChildStderr) -> String {
    let (mut end, mut piece) = (Vec::new(), [0; 4096]);
    while let Ok(bytes @ 1..) = errors.read(&mut piece) {
        end.extend_from_slice(&piece[..bytes]);
        let excess = end.len().saturating_sub(ERROR_BYTES_MAX);
        end.drain(..excess);
    }
    String::from_utf8_lossy(&end).trim().replace('\n', "\n  ")
}
