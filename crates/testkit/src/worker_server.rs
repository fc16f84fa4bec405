//! An HTTP server of known capacity: so many workers, each of which takes the same time for every request, and one queue
//! before them.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Serves until the test's process ends. `/fail` is answered with 500 at once, every other path after its turn.
pub struct WorkerServer {
    /// `http://127.0.0.1:PORT`
    pub url: String,
    services_ns: Arc<Mutex<Vec<u64>>>,
}

impl WorkerServer {
    /// With so many workers, who sleep so long for each request.
    pub fn start(workers: usize, service: Duration) -> WorkerServer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let services_ns = Arc::new(Mutex::new(Vec::new()));
        let (queue, jobs) = channel::<Sender<()>>();
        let jobs = Arc::new(Mutex::new(jobs));
        for _ in 0..workers {
            let (jobs, services_ns) = (Arc::clone(&jobs), Arc::clone(&services_ns));
            std::thread::spawn(move || work(&jobs, service, &services_ns));
        }
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let queue = queue.clone();
                std::thread::spawn(move || serve(&stream, &queue));
            }
        });
        WorkerServer { url, services_ns }
    }

    /// Times that workers really took, nanoseconds: a sleep is longer than asked, on a busy machine more so.
    pub fn services_ns(&self) -> Vec<u64> {
        self.services_ns.lock().expect("no worker panicked").clone()
    }
}

fn work(jobs: &Mutex<Receiver<Sender<()>>>, service: Duration, services_ns: &Mutex<Vec<u64>>) -> Option<()> {
    loop {
        // Begun before the wait for the queue's lock would count idle time; begun after the receipt it is the worker's own.
        let job = jobs.lock().ok()?.recv().ok()?;
        let begun = Instant::now();
        std::thread::sleep(service);
        let took = u64::try_from(begun.elapsed().as_nanos()).ok()?;
        services_ns.lock().ok()?.push(took);
        // The connection may have gone away.
        let _ = job.send(());
    }
}

fn serve(stream: &TcpStream, queue: &Sender<Sender<()>>) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut writer = stream;
    let (done, answer) = channel();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|bytes| *bytes > 0)?;
        let mut header = String::new();
        while reader.read_line(&mut header).ok()? > 2 {
            header.clear();
        }
        let is_good = !line.contains(" /fail");
        if is_good {
            queue.send(done.clone()).ok()?;
            answer.recv().ok()?;
        }
        let status = if is_good { "200 OK" } else { "500 Broken" };
        write!(writer, "HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nok").ok()?;
    }
}
