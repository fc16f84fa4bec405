//! An injector process: waits for a controller, serves it, and is then there for the next.

use crate::message::{Order, Report};
use crate::session::{MessageReader, MessageWriter};
use crate::token::Token;
use crate::visitors::Visitors;
use crate::worker::{Shared, SharedWriter, Worker, send};
use crate::{BEAT_EVERY, CONTROLLER_SILENCE_MAX, greeting};
use assay_load::{LoadError, monotonic_ns};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, TrySendError, channel, sync_channel};
use std::time::{Duration, Instant};

/// How long a controller is kept waiting for the place of another; it takes silence for a loss after 0.8 s.
const PLACE_MAX: Duration = Duration::from_millis(500);
/// Orders that wait; a controller has at most two under way.
const ORDERS_MAX: usize = 4;
/// How often waiting threads look whether they should end.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How long a message may wait for a controller that takes nothing.
const WRITE_MAX: Duration = Duration::from_secs(2);
/// A controller whose host is gone is given up after this, also while no load runs.
const HOST_GONE_MAX: Duration = Duration::from_secs(30);

/// What happens at an injector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InjectorEvent {
    /// A controller that proved it knows the token, and is served from now on.
    Controller {
        /// Its address.
        from: SocketAddr,
    },
    /// Who is sent away.
    Dismissed {
        /// Its address.
        from: SocketAddr,
        /// What is wrong with it.
        why: String,
    },
    /// The controller is done or gone, and no load runs any more.
    Gone {
        /// Its address.
        from: SocketAddr,
        /// How the session ended.
        why: String,
    },
}

/// Serves one controller at a time, until `stop`. Blocks until then, and ends a load that runs.
///
/// `on_event` is called from several threads.
///
/// # Errors
/// The listener cannot be waited for.
pub fn serve(
    listener: &TcpListener,
    token: &Token,
    stop: &AtomicBool,
    on_event: &(dyn Fn(InjectorEvent) + Sync),
) -> Result<(), LoadError> {
    let failed = |cause| LoadError::System {
        what: "wait for a controller",
        cause,
        fix: "check the address, and the limit on open files (ulimit -n)",
    };
    listener.set_nonblocking(true).map_err(failed)?;
    let (is_busy, visitors) = (AtomicBool::new(false), Visitors::default());
    let service = Service { token, stop, is_busy: &is_busy, visitors: &visitors, on_event };
    std::thread::scope(|scope| {
        while !stop.load(Ordering::Relaxed) {
            match listener.accept() {
                Ok((stream, from)) => match visitors.enter(&stream) {
                    Ok(number) => drop(scope.spawn(move || service.receive(&stream, from, number))),
                    Err(error) => on_event(InjectorEvent::Dismissed { from, why: error.to_string() }),
                },
                Err(error) => wait(listener, &error).map_err(failed)?,
            }
        }
        Ok(())
    })
}

/// Waits for a connection. Goes on after errors that pass: a peer that has left already, or no free file descriptor.
fn wait(listener: &TcpListener, error: &io::Error) -> io::Result<()> {
    if error.kind() != io::ErrorKind::WouldBlock {
        std::thread::sleep(LOOK_EVERY);
    }
    let timeout = Timespec { tv_sec: 0, tv_nsec: LOOK_EVERY.subsec_nanos().into() };
    match poll(&mut [PollFd::new(listener, PollFlags::IN)], Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// State shared by all connections.
#[derive(Clone, Copy)]
struct Service<'a> {
    token: &'a Token,
    stop: &'a AtomicBool,
    is_busy: &'a AtomicBool,
    visitors: &'a Visitors,
    on_event: &'a (dyn Fn(InjectorEvent) + Sync),
}

impl Service<'_> {
    fn receive(self, stream: &TcpStream, from: SocketAddr, number: u64) {
        let greeted = self.greet(stream);
        let greeted = match self.visitors.leave(number) {
            true => greeted,
            false => Err("it did not say who it is while others came".to_owned()),
        };
        let dismiss = |why| (self.on_event)(InjectorEvent::Dismissed { from, why });
        let (reader, mut writer) = match greeted {
            Ok(ends) => ends,
            Err(why) => return dismiss(why),
        };
        if !self.take() {
            let why = "it serves another controller".to_owned();
            // Whether it hears that changes nothing.
            let _ = writer.write(&Report::Refused { why: why.clone() });
            return dismiss(why);
        }
        (self.on_event)(InjectorEvent::Controller { from });
        let why = self.session(stream, reader, &Mutex::new(writer));
        self.is_busy.store(false, Ordering::Release);
        (self.on_event)(InjectorEvent::Gone { from, why });
    }

    /// Takes the only place there is. The last controller may just have left, and its load needs a moment to end.
    fn take(self) -> bool {
        let end = Instant::now() + PLACE_MAX;
        while self.is_busy.swap(true, Ordering::AcqRel) {
            if Instant::now() >= end {
                return false;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        true
    }

    fn greet(
        self,
        stream: &TcpStream,
    ) -> Result<(MessageReader<TcpStream>, MessageWriter<TcpStream>), String> {
        let text = |error: io::Error| error.to_string();
        stream.set_nonblocking(false).map_err(text)?;
        stream.set_nodelay(true).map_err(text)?;
        stream.set_read_timeout(Some(LOOK_EVERY)).map_err(text)?;
        stream.set_write_timeout(Some(WRITE_MAX)).map_err(text)?;
        let gone_ms = u32::try_from(HOST_GONE_MAX.as_millis()).unwrap_or(u32::MAX);
        sockopt::set_tcp_user_timeout(stream, gone_ms).map_err(|e| text(e.into()))?;
        let (source, sink) = (stream.try_clone().map_err(text)?, stream.try_clone().map_err(text)?);
        greeting::receive(source, sink, self.token).map_err(|error| error.to_string())
    }

    /// Three threads: this one reads, one works, one beats. Returns why it ended.
    fn session(
        self,
        stream: &TcpStream,
        mut reader: MessageReader<TcpStream>,
        writer: &SharedWriter,
    ) -> String {
        let shared = Shared::default();
        // Dropped at the end, so that the next controller need not wait for a beat.
        let (is_going_on, over) = channel::<()>();
        let (to_worker, orders) = sync_channel(ORDERS_MAX);
        if let Err(error) = send(writer, &Report::Ready) {
            return error.to_string();
        }
        let end = || {
            shared.stop.store(true, Ordering::Relaxed);
            // Wakes the reader.
            let _ = stream.shutdown(Shutdown::Both);
        };
        let (end, shared) = (&end, &shared);
        std::thread::scope(|scope| {
            let worker = scope.spawn(move || {
                let ended = Worker::new(shared, writer).work(&orders);
                end();
                ended
            });
            scope.spawn(move || {
                while send(writer, &Report::Beat(shared.beat())).is_ok()
                    && over.recv_timeout(BEAT_EVERY) == Err(RecvTimeoutError::Timeout)
                {}
                end();
            });
            let why = self.read_orders(&mut reader, shared, writer, &to_worker);
            end();
            drop((to_worker, is_going_on));
            match worker.join() {
                Ok(Err(broken_rule)) => broken_rule,
                _ => why,
            }
        })
    }

    fn read_orders(
        self,
        reader: &mut MessageReader<TcpStream>,
        shared: &Shared,
        writer: &SharedWriter,
        to_worker: &SyncSender<Order>,
    ) -> String {
        let mut patience = |silence: Duration| {
            let is_loading = shared.is_loading.load(Ordering::Relaxed);
            !self.stop.load(Ordering::Relaxed) && (!is_loading || silence <= CONTROLLER_SILENCE_MAX)
        };
        loop {
            let order = match reader.read(&mut patience) {
                Ok(order) => order,
                Err(_) if self.stop.load(Ordering::Relaxed) => return "this injector was stopped".to_owned(),
                Err(error) => return error.to_string(),
            };
            match order {
                Order::Ping { number } => {
                    let pong = Report::Pong { number, at_ns: monotonic_ns() };
                    if let Err(error) = send(writer, &pong) {
                        return error.to_string();
                    }
                }
                Order::Stop => shared.stop.store(true, Ordering::Relaxed),
                order => {
                    // Here and not by the worker: a stop that comes behind the order must not be forgotten.
                    if matches!(order, Order::Arm(_)) {
                        shared.stop.store(false, Ordering::Relaxed);
                    }
                    match to_worker.try_send(order) {
                        Ok(()) => (),
                        Err(TrySendError::Full(_)) => return "it gave more orders than fit".to_owned(),
                        Err(TrySendError::Disconnected(_)) => return "an order out of turn".to_owned(),
                    }
                }
            }
        }
    }
}
