//! A worker in a pod. The pod's own process waits for a caller, and another process of the pod, which the engine connects to the caller,
//! passes the bytes on. So the pod ends with the conversation, and everything that ran for it ends with the pod.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long a worker waits for a caller.
const CALLER_MAX: Duration = Duration::from_secs(90);
/// How long a caller waits for a worker whose pod has just started.
const WORKER_MAX: Duration = Duration::from_secs(10);
/// How long a caller may take to read the last messages.
const END_MAX: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(50);

/// The socket, in the temporary folder of the pod.
fn socket() -> PathBuf {
    std::env::temp_dir().join("assay-worker.sock")
}

/// Waits for a caller. `None`: nobody has called, or `stop` was set.
///
/// # Errors
/// Of the socket.
pub fn caller(stop: &AtomicBool) -> io::Result<Option<UnixStream>> {
    let path = socket();
    let named = |e: io::Error| io::Error::new(e.kind(), format!("{}: {e}", path.display()));
    let listener = UnixListener::bind(&path).map_err(named)?;
    let caller = accepted(&listener, stop);
    // One conversation only.
    std::fs::remove_file(&path).map_err(named)?;
    caller
}

fn accepted(listener: &UnixListener, stop: &AtomicBool) -> io::Result<Option<UnixStream>> {
    listener.set_nonblocking(true)?;
    let began = Instant::now();
    while began.elapsed() < CALLER_MAX && !stop.load(Ordering::SeqCst) {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false)?;
                return Ok(Some(stream));
            }
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => thread::sleep(LOOK),
            Err(e) => return Err(e),
        }
    }
    Ok(None)
}

/// Waits until the caller has read everything and hangs up, which sets `stop`: the last messages may be lost if the pod ends first.
pub fn wait_for_end(stop: &AtomicBool) {
    let began = Instant::now();
    while began.elapsed() < END_MAX && !stop.load(Ordering::SeqCst) {
        thread::sleep(LOOK);
    }
}

/// Connects a caller with the worker of this pod, until the worker ends.
///
/// # Errors
/// No worker listens in this pod, or it already has a caller. Errors of reading and writing.
pub fn connect(mut input: impl Read + Send + 'static, output: &mut dyn Write) -> io::Result<()> {
    let mut worker = reached()?;
    let mut to_worker = worker.try_clone()?;
    thread::spawn(move || {
        let _ = io::copy(&mut input, &mut to_worker);
        // The end of the caller is the end of the conversation.
        let _ = to_worker.shutdown(Shutdown::Write);
    });
    let mut piece = vec![0; 64 << 10];
    loop {
        match worker.read(&mut piece)? {
            0 => return Ok(()),
            bytes => {
                output.write_all(&piece[..bytes])?;
                output.flush()?;
            }
        }
    }
}

fn reached() -> io::Result<UnixStream> {
    let (path, began) = (socket(), Instant::now());
    loop {
        match UnixStream::connect(&path) {
            Ok(stream) => return Ok(stream),
            Err(e) if WORKER_MAX < began.elapsed() => {
                return Err(io::Error::new(
                    e.kind(),
                    format!("no worker listens at {}: {e}", path.display()),
                ));
            }
            Err(_) => thread::sleep(LOOK),
        }
    }
}
