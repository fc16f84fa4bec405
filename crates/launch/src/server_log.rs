//! What a server prints, kept within bounds: its first 8 MiB, and its last 64 KiB however much came between.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, PipeReader, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Bytes that are written as they come.
const HEAD_BYTES_MAX: u64 = 8 << 20;
/// Bytes of the end that are kept in memory.
const TAIL_BYTES_MAX: usize = 64 << 10;
/// How long the last words of a process that has ended are waited for: its end may be noticed before they are copied, and a grandchild may
/// hold the pipe open.
const LAST_WORDS_WAIT: Duration = Duration::from_secs(1);
/// How often the copying thread looks whether it should end, ms: a grandchild may hold the pipe open for ever.
const LOOK_MS: i64 = 200;

type Tail = Arc<Mutex<VecDeque<u8>>>;

/// A thread that copies a server's output to its file.
#[derive(Debug)]
pub(crate) struct ServerLog {
    tail: Tail,
    end: Arc<AtomicBool>,
    copier: Option<JoinHandle<io::Result<()>>>,
}

impl ServerLog {
    /// Starts copying.
    pub fn start(pipe: PipeReader, file: File) -> ServerLog {
        let (tail, end) = (Tail::default(), Arc::new(AtomicBool::new(false)));
        let (to, ended) = (Arc::clone(&tail), Arc::clone(&end));
        let copier = std::thread::spawn(move || copy(pipe, file, &to, &ended));
        ServerLog { tail, end, copier: Some(copier) }
    }

    /// The last lines so far.
    pub fn last_lines(&self, count: usize) -> String {
        let Ok(tail) = self.tail.lock() else { return String::new() };
        let bytes: Vec<u8> = tail.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(count)..].join("\n")
    }

    /// Waits until all is copied that a process printed which has ended; a second at most.
    pub fn catch_up(&self) {
        let begun = Instant::now();
        let is_copying = || self.copier.as_ref().is_some_and(|copier| !copier.is_finished());
        while is_copying() && begun.elapsed() < LAST_WORDS_WAIT {
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Ends copying once the pipe is empty; returns why the file is not whole, if so.
    pub fn finish(&mut self) -> Option<String> {
        self.end.store(true, Ordering::Relaxed);
        match self.copier.take()?.join() {
            Ok(Ok(())) => None,
            Ok(Err(e)) => Some(e.to_string()),
            Err(_) => Some("its writer panicked".to_owned()),
        }
    }
}

fn copy(mut pipe: PipeReader, mut file: File, tail: &Tail, end: &AtomicBool) -> io::Result<()> {
    let (mut buffer, mut seen, mut written, mut failed) = ([0; 16 << 10], 0_u64, 0_u64, None);
    loop {
        let wait = Timespec { tv_sec: 0, tv_nsec: LOOK_MS * 1_000_000 };
        let ready = poll(&mut [PollFd::new(&pipe, PollFlags::IN)], Some(&wait)).unwrap_or(0);
        if ready == 0 {
            if end.load(Ordering::Relaxed) {
                break;
            }
            continue;
        }
        let count = match pipe.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        seen += count as u64;
        // A full disk must not block the server: its output is read on.
        if failed.is_none() && written < HEAD_BYTES_MAX {
            match file.write_all(&buffer[..count]) {
                Ok(()) => written += count as u64,
                Err(e) => failed = Some(e),
            }
        }
        if let Ok(mut tail) = tail.lock() {
            tail.extend(&buffer[..count]);
            let over = tail.len().saturating_sub(TAIL_BYTES_MAX);
            tail.drain(..over);
        }
    }
    if let Some(e) = failed {
        return Err(e);
    }
    append_tail(&mut file, tail, seen - written)
}

fn append_tail(file: &mut File, tail: &Tail, missing: u64) -> io::Result<()> {
    let Ok(mut tail) = tail.lock() else { return Ok(()) };
    let kept = tail.len().min(usize::try_from(missing).unwrap_or(usize::MAX));
    if kept == 0 {
        return Ok(());
    }
    writeln!(file, "\n[{} bytes are left out here]", missing - kept as u64)?;
    let start = tail.len() - kept;
    file.write_all(&tail.make_contiguous()[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_leaves_its_beginning_and_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server.log");
        let (reader, mut writer) = io::pipe().unwrap();
        let mut log = ServerLog::start(reader, File::create(&path).unwrap());
        let line = [b'x'; 999];
        for number in 0..20_000_u32 {
            writer.write_all(&line).and_then(|()| writeln!(writer, "{number}")).unwrap();
        }
        drop(writer);
        assert_eq!(log.finish(), None);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.len() < 9 << 20, "{}", text.len());
        assert!(text.lines().next().unwrap().ends_with("xx0") && text.ends_with("xx19999\n"));
        assert!(text.contains("bytes are left out here]"));
        assert!(log.last_lines(1).ends_with("x19999"));
    }
}
