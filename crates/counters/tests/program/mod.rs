//! A child process (the test binary, started again) that does the work asked for and prints the CPU time it used.

use assay_testkit::Running;
use rustix::time::{ClockId, clock_gettime};
use std::fs::File;
use std::hint::black_box;
use std::io::{Read, Seek, Write, stdin};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

const NAME: &str = "ASSAY_COUNTERS_PROGRAM";

/// The child process, ready for its first task.
pub struct Program(pub Running);

impl Program {
    pub fn start() -> Program {
        let mut command = Command::new(std::env::current_exe().expect("this test"));
        command.args(["--exact", "program::as_child", "--nocapture", "--test-threads=1"]).env(NAME, "yes");
        Program(Running::start(&mut command, "program ready"))
    }

    pub fn pid(&self) -> u32 {
        self.0.pid()
    }

    /// Has it do something, and gives the CPU time in nanoseconds that all of it took meanwhile by its own clock.
    pub fn take(&mut self, what: &str) -> u64 {
        let said = self.0.ask(what);
        said.trim().parse().unwrap_or_else(|_| panic!("{what}: {said}"))
    }
}

fn ns(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Works until this thread has taken so much CPU time.
fn burn(ms: u64, mut work: impl FnMut()) {
    let end = ns(ClockId::ThreadCPUTime) + ms * 1_000_000;
    while ns(ClockId::ThreadCPUTime) < end {
        work();
    }
}

fn in_user_mode() {
    in_user_mode_for(200_000);
}

fn in_user_mode_for(steps: u64) {
    let mut sum = 0u64;
    for i in 0..steps {
        sum = black_box(sum ^ i);
    }
    black_box(sum);
}

fn connection() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let one = TcpStream::connect(listener.local_addr().expect("bound")).expect("connected");
    (one, listener.accept().expect("connected").0)
}

/// A thread that waits for what it has to do last.
type Begun = (std::sync::mpsc::Sender<u64>, std::thread::JoinHandle<()>);

fn loop_for(time: Duration) {
    let end = Instant::now() + time;
    while Instant::now() < end {
        in_user_mode_for(100);
    }
}

fn act(what: &str, number: u64, begun: &mut Option<Begun>) {
    match what {
        "user" => burn(number, in_user_mode),
        "kernel" => {
            let mut zeros = File::open("/dev/zero").expect("a device");
            let mut buffer = vec![0u8; 1 << 20];
            burn(number, || zeros.read_exact(&mut buffer).expect("zeros"));
        }
        "send" => {
            let (mut one, mut other) = connection();
            let mut buffer = [7; 512];
            burn(number, || {
                for _ in 0..20 {
                    one.write_all(&buffer).expect("sent");
                    other.read_exact(&mut buffer).expect("received");
                }
            });
        }
        "fault" => burn(number, || {
            // More than glibc ever keeps for the next one.
            let mut pages = vec![0u8; 64 << 20];
            for page in pages.chunks_mut(4096) {
                page[0] = 1;
            }
            black_box(&pages);
        }),
        "futex" => {
            let locks = Arc::new((Mutex::new(0u64), Condvar::new()));
            let other = Arc::clone(&locks);
            let turns = move |locks: &(Mutex<u64>, Condvar), own: u64| {
                let mut turn = locks.0.lock().expect("a lock");
                while *turn != u64::MAX {
                    if *turn % 2 == own {
                        *turn += 1;
                        locks.1.notify_one();
                        if own == 0 && number * 1_000_000 < ns(ClockId::ThreadCPUTime) {
                            *turn = u64::MAX;
                        }
                    } else {
                        turn = locks.1.wait(turn).expect("a lock");
                    }
                }
            };
            let second = std::thread::spawn(move || turns(&other, 1));
            let first = Arc::clone(&locks);
            std::thread::spawn(move || turns(&first, 0)).join().expect("no panic");
            locks.1.notify_all();
            second.join().expect("no panic");
        }
        "call" => burn(number, || {
            for _ in 0..1000 {
                black_box(rustix::process::getppid());
            }
        }),
        // Exactly so many, and hardly a reading of the clock.
        "calls" => {
            for _ in 0..number {
                black_box(rustix::process::getppid());
            }
        }
        // Units of work as a server has them: some computing, some messages over a connection.
        "units" => {
            let (mut one, mut other) = connection();
            let mut buffer = [7; 512];
            for _ in 0..number {
                in_user_mode_for(20_000);
                for _ in 0..2 {
                    one.write_all(&buffer).expect("sent");
                    other.read_exact(&mut buffer).expect("received");
                }
            }
        }
        // So many that sleep for ever.
        "many" => {
            for _ in 0..number {
                let thread = std::thread::Builder::new().stack_size(64 << 10);
                thread.spawn(|| std::thread::sleep(Duration::from_secs(3600))).expect("a thread");
            }
        }
        "poll" => burn(number, || {
            for _ in 0..1000 {
                let none = rustix::time::Timespec { tv_sec: 0, tv_nsec: 0 };
                rustix::event::poll(&mut [], Some(&none)).expect("polled");
            }
        }),
        "file" => {
            let mut file = tempfile::tempfile().expect("a file");
            let mut buffer = [7; 4096];
            burn(number, || {
                for _ in 0..100 {
                    file.rewind().expect("at the start");
                    file.write_all(&buffer).expect("written");
                    file.rewind().expect("at the start");
                    file.read_exact(&mut buffer).expect("read");
                }
            });
        }
        // Each takes 20 ms of CPU time and ends.
        "threads" => {
            for _ in 0..number {
                std::thread::spawn(|| burn(20, in_user_mode)).join().expect("no panic");
            }
        }
        // Each runs for 8 ms and ends, without a system call that would bring the kernel's figures up to date.
        "brief" => {
            for thread in 0..number {
                let named = std::thread::Builder::new().name(format!("brief-{thread}"));
                named
                    .spawn(|| loop_for(Duration::from_millis(8)))
                    .expect("a thread")
                    .join()
                    .expect("no panic");
            }
        }
        // One that works now and at its end.
        "begin" => {
            let (ends, is_told) = std::sync::mpsc::channel();
            let (done, is_done) = std::sync::mpsc::channel();
            let thread = std::thread::spawn(move || {
                burn(number, in_user_mode);
                done.send(()).expect("somebody waits");
                burn(is_told.recv().expect("somebody tells"), in_user_mode);
            });
            is_done.recv().expect("it tells");
            *begun = Some((ends, thread));
        }
        "end" => {
            let (ends, thread) = begun.take().expect("one begun");
            ends.send(number).expect("it waits");
            thread.join().expect("no panic");
        }
        // One that goes on to live.
        "stay" => {
            let (done, is_done) = std::sync::mpsc::channel();
            let thread = std::thread::Builder::new().name("stays-7".to_owned());
            thread
                .spawn(move || {
                    burn(number, in_user_mode);
                    done.send(()).expect("somebody waits");
                    std::thread::sleep(Duration::from_secs(3600));
                })
                .expect("a thread");
            is_done.recv().expect("it tells");
        }
        other => panic!("what is {other}?"),
    }
}

#[test]
fn as_child() {
    if std::env::var_os(NAME).is_none() {
        return;
    }
    println!("\nprogram ready");
    let mut begun = None;
    for line in stdin().lines().map_while(Result::ok) {
        let (what, number) = line.split_once(' ').expect("what and how much");
        let began = ns(ClockId::ProcessCPUTime);
        act(what, number.parse().expect("a number"), &mut begun);
        println!("{}", ns(ClockId::ProcessCPUTime) - began);
    }
}
