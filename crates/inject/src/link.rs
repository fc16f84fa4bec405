//! The controller's connection to one injector.

use crate::frame::FrameError;
use crate::message::{Order, Report};
use crate::session::{MessageReader, MessageWriter};
use crate::token::Token;
use crate::{SILENCE_MAX, greeting};
use assay_load::{Progress, monotonic_ns};
use assay_model::LostInjector;
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const CONNECT_MAX: Duration = Duration::from_secs(3);
/// How often a waiting reader looks whether the silence lasts too long.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Something that an injector reported, other than a beat.
pub(crate) struct Event {
    /// Number of the link.
    pub link: usize,
    /// When it was here.
    pub at_ns: u64,
    /// The report, or why there will be no more.
    pub what: Result<Report, String>,
}

/// One injector as its controller sees it.
pub(crate) struct Injector {
    pub address: String,
    pub base_url: String,
    /// Absent once it is lost.
    pub link: Option<Link>,
    /// How it was lost.
    pub lost: Option<LostInjector>,
}

/// A connection; its reader is a thread that ends soon after the link is dropped.
pub(crate) struct Link {
    stream: TcpStream,
    writer: MessageWriter<TcpStream>,
    /// The last beat and when it came. Kept here and not among the events, which are read during windows only.
    last_word: Arc<Mutex<(Progress, u64)>>,
}

impl Link {
    /// Connects and proves both sides' right. Events go to `events` from now on, the first is that it is ready or refuses.
    pub fn open(
        number: usize,
        address: &str,
        token: &Token,
        events: SyncSender<Event>,
    ) -> Result<Link, String> {
        let text = |error: std::io::Error| error.to_string();
        let stream = connect(address)?;
        stream.set_nodelay(true).map_err(text)?;
        stream.set_read_timeout(Some(LOOK_EVERY)).map_err(text)?;
        stream.set_write_timeout(Some(SILENCE_MAX)).map_err(text)?;
        let (source, sink) = (stream.try_clone().map_err(text)?, stream.try_clone().map_err(text)?);
        let (reader, writer) = greeting::introduce(source, sink, token).map_err(|error| error.to_string())?;
        let last_word = Arc::new(Mutex::new((Progress::default(), monotonic_ns())));
        let shared = Arc::clone(&last_word);
        std::thread::spawn(move || read_all(number, reader, &shared, &events));
        Ok(Link { stream, writer, last_word })
    }

    /// Gives an order.
    pub fn order(&mut self, order: &Order) -> Result<(), FrameError> {
        self.writer.write(order)
    }

    /// The last beat, and when it came.
    pub fn last_word(&self) -> (Progress, u64) {
        *self.last_word.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Progress of an earlier window is not that of this one.
    pub fn forget_last_word(&self) {
        let mut last_word = self.last_word.lock().unwrap_or_else(PoisonError::into_inner);
        last_word.0 = Progress::default();
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // Ends the reader, which is not waited for: it may wait for room among the events itself. Also tells the
        // injector, at once, that nobody is there any more.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

fn connect(address: &str) -> Result<TcpStream, String> {
    let resolved = address
        .to_socket_addrs()
        .map_err(|error| format!("its address cannot be resolved ({error}); write it like 10.0.0.7:7447"))?;
    let mut why = "its name has no address".to_owned();
    for one in resolved {
        match TcpStream::connect_timeout(&one, CONNECT_MAX) {
            Ok(stream) => return Ok(stream),
            Err(error) => why = format!("cannot connect ({error}); is `assay inject` running there?"),
        }
    }
    Err(why)
}

fn read_all(
    link: usize,
    mut reader: MessageReader<TcpStream>,
    last_word: &Mutex<(Progress, u64)>,
    events: &SyncSender<Event>,
) {
    loop {
        let report = reader.read(&mut |silence| silence < SILENCE_MAX);
        let at_ns = monotonic_ns();
        let what = match report {
            Ok(Report::Beat(beat)) => {
                *last_word.lock().unwrap_or_else(PoisonError::into_inner) = (beat, at_ns);
                continue;
            }
            Ok(report) => Ok(report),
            Err(error) => Err(error.to_string()),
        };
        let is_last = what.is_err();
        // Nobody may be there to listen; then this thread ends, too.
        if events.send(Event { link, at_ns, what }).is_err() || is_last {
            return;
        }
    }
}
