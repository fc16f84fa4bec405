//! Places of a distributed test in one process: injectors, and a network that can go away.

use assay_inject::{InjectorAddress, InjectorEvent, InjectorsConfig, Token, serve};
use assay_load::{GeneratorConfig, for_url};
use assay_testkit::CountingServer;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub const SECRET: &str = "a token of the tests";
/// Nothing takes so long but a fault.
pub const HANG: Duration = Duration::from_secs(120);

/// An injector on a thread; ends when dropped.
pub struct InjectorThread {
    pub address: SocketAddr,
    stop: Arc<AtomicBool>,
    events: Arc<Mutex<Vec<InjectorEvent>>>,
    thread: Option<JoinHandle<()>>,
}

impl InjectorThread {
    pub fn start() -> InjectorThread {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("bound");
        let (stop, events) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
        let (flag, told) = (Arc::clone(&stop), Arc::clone(&events));
        let thread = std::thread::spawn(move || {
            let tell = |event| told.lock().expect("no panic").push(event);
            serve(&listener, &Token::new(SECRET), &flag, &tell).expect("a listener");
        });
        InjectorThread { address, stop, events, thread: Some(thread) }
    }

    pub fn group(count: usize) -> Vec<InjectorThread> {
        (0..count).map(|_| InjectorThread::start()).collect()
    }

    /// Waits for an event with this text in its debug form.
    pub fn wait_for(&self, text: &str) {
        self.wait_for_times(text, 1);
    }

    /// Waits until so many events had this text in their debug form.
    pub fn wait_for_times(&self, text: &str, times: usize) {
        let end = Instant::now() + HANG;
        while self.events().iter().filter(|event| format!("{event:?}").contains(text)).count() < times {
            assert!(Instant::now() < end, "no {text:?} {times} times in {HANG:?}, but {:?}", self.events());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn events(&self) -> Vec<InjectorEvent> {
        self.events.lock().expect("no panic").clone()
    }
}

impl Drop for InjectorThread {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking(), "an injector panicked");
        }
    }
}

const WHOLE: u8 = 0;
const SILENT: u8 = 1;
const CUT: u8 = 2;

/// A wire to an injector that can fall silent or break.
pub struct Wire {
    pub address: SocketAddr,
    state: Arc<AtomicU8>,
}

impl Wire {
    pub fn to(injector: SocketAddr) -> Wire {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("bound");
        let state = Arc::new(AtomicU8::new(WHOLE));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for near in listener.incoming().flatten() {
                let far = TcpStream::connect(injector).expect("the injector listens");
                for (from, to) in [(&near, &far), (&far, &near)] {
                    let _ = from.set_nodelay(true);
                    let (from, to) = (from.try_clone().expect("a socket"), to.try_clone().expect("a socket"));
                    let state = Arc::clone(&shared);
                    std::thread::spawn(move || pass(from, to, &state));
                }
            }
        });
        Wire { address, state }
    }

    /// Nothing passes any more, and nobody is told.
    pub fn fall_silent(&self) {
        self.state.store(SILENT, Ordering::SeqCst);
    }

    /// Both ends see the connection end.
    pub fn cut(&self) {
        self.state.store(CUT, Ordering::SeqCst);
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, state: &AtomicU8) {
    let mut buffer = [0; 16 << 10];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        match state.load(Ordering::SeqCst) {
            WHOLE if to.write_all(&buffer[..read]).is_ok() => (),
            SILENT => (),
            _ => break,
        }
    }
    if state.load(Ordering::SeqCst) != SILENT {
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    }
}

/// A group that loads the server with 12 connections.
pub fn config(server: &CountingServer, addresses: &[SocketAddr]) -> InjectorsConfig {
    let address = |address: &SocketAddr| InjectorAddress { address: address.to_string(), base_url: None };
    InjectorsConfig {
        injectors: addresses.iter().map(address).collect(),
        token: Token::new(SECRET),
        load: GeneratorConfig::new(&server.url, for_url(&server.url).expect("a URL").1, 12),
        go_on_without: false,
    }
}
