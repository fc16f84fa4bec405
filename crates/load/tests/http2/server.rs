//! A server made of nghttp2, another implementation of HTTP/2, which refuses what is not. It does wrong what a test tells it to.
#![expect(unsafe_code, reason = "nghttp2 is C")]

use libnghttp2_sys as sys;
use std::collections::HashMap;
use std::ffi::c_void;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use std::{ptr, slice};

/// A request as the server sees it.
#[derive(Debug, Default, Clone)]
pub struct Request {
    pub headers: HashMap<String, String>,
    pub body: Vec<u8>,
    /// Number of the connection, and of the request on it.
    pub connection: u64,
    pub number: u64,
}

impl Request {
    pub fn path(&self) -> &str {
        &self.headers[":path"]
    }
}

/// What a server does with a request.
pub enum Reply {
    Answer {
        status: u16,
        headers: Vec<(&'static str, String)>,
        body: Vec<u8>,
    },
    /// An answer with trailers behind its body.
    Call {
        headers: Vec<(&'static str, String)>,
        body: Vec<u8>,
        trailers: Vec<(&'static str, String)>,
    },
    Reset(u32),
    /// Says that it answers no request from this one on, and why.
    GoAway(u32),
    Silence,
    Close,
    /// The other reply, once this holds; what comes meanwhile is answered.
    Once(Box<dyn Fn() -> bool + Send>, Box<Reply>),
}

pub fn ok(body: &str) -> Reply {
    Reply::Answer { status: 200, headers: Vec::new(), body: body.into() }
}

/// How a server is set.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    pub streams_max: Option<u32>,
    pub window: Option<u32>,
    pub table: Option<u32>,
}

/// How often a reply that waits is looked at.
const LOOK: Duration = Duration::from_millis(1);

type Handler = dyn Fn(&Request) -> Reply + Send + Sync;

pub struct Server {
    pub url: String,
    /// Frames that nghttp2 did not accept.
    pub refused: Arc<AtomicU64>,
    /// Most requests that were open on one connection.
    pub open_max: Arc<AtomicU64>,
}

/// Serves each connection in a thread, until the test's process ends.
pub fn serve(settings: Settings, reply: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    let (refused, open_max) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let server = Server { url, refused: Arc::clone(&refused), open_max: Arc::clone(&open_max) };
    let reply: Arc<Handler> = Arc::new(reply);
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let (Ok(stream), reply, settings) = (stream, Arc::clone(&reply), settings.clone()) else {
                return;
            };
            let counts = (Arc::clone(&refused), Arc::clone(&open_max));
            let _ = (stream.set_read_timeout(Some(LOOK)), stream.set_nodelay(true));
            std::thread::spawn(move || connection(stream, number as u64, &settings, &*reply, counts));
        }
    });
    server
}

#[derive(Default)]
struct State {
    open: HashMap<i32, Request>,
    whole: Vec<i32>,
    bodies: HashMap<i32, (Vec<u8>, usize)>,
    trailers: HashMap<i32, Vec<(&'static str, String)>>,
    refused: u64,
    waiting: Vec<(i32, Reply)>,
}

/// Speaks HTTP/2 on a connection, or on what is decrypted of it.
pub fn connection(
    mut stream: impl Read + Write,
    number: u64,
    settings: &Settings,
    reply: &Handler,
    (refused, open_max): (Arc<AtomicU64>, Arc<AtomicU64>),
) -> Option<()> {
    let mut state = Box::new(State::default());
    let user = ptr::from_mut(&mut *state).cast::<c_void>();
    let session = session(user, settings);
    let (mut count, mut bytes) = (0, [0; 16_384]);
    let done = loop {
        if send(session, &mut stream).is_none() {
            break None;
        }
        let read = match stream.read(&mut bytes) {
            Ok(0) => break Some(()),
            Ok(read) => read,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => 0,
            Err(_) => break Some(()),
        };
        // SAFETY: the session is alive, and reads so many bytes.
        if unsafe { sys::nghttp2_session_mem_recv2(session, bytes.as_ptr(), read) } < 0 {
            state.refused += 1;
        }
        refused.fetch_add(std::mem::take(&mut state.refused), Ordering::Relaxed);
        open_max.fetch_max(state.open.len() as u64, Ordering::Relaxed);
        let mut closes = false;
        for (id, reply) in std::mem::take(&mut state.waiting) {
            closes |= state.open.contains_key(&id) && !act(session, &mut state, id, reply);
        }
        for id in std::mem::take(&mut state.whole) {
            let Some(request) = state.open.get(&id) else { continue };
            let request = Request { connection: number, number: count, ..request.clone() };
            count += 1;
            closes |= !act(session, &mut state, id, reply(&request));
        }
        if closes {
            send(session, &mut stream);
            break None;
        }
    };
    // SAFETY: nobody uses it any more.
    unsafe { sys::nghttp2_session_del(session) };
    done
}

fn pair(name: &str, value: &str) -> sys::nghttp2_nv {
    sys::nghttp2_nv {
        name: name.as_ptr().cast_mut(),
        value: value.as_ptr().cast_mut(),
        namelen: name.len(),
        valuelen: value.len(),
        flags: 0,
    }
}

/// Says whether the connection goes on.
fn act(session: *mut sys::nghttp2_session, state: &mut State, id: i32, reply: Reply) -> bool {
    match reply {
        Reply::Call { mut headers, body, trailers } => {
            state.trailers.insert(id, trailers);
            headers.push(("content-type", "application/grpc".to_owned()));
            act(session, state, id, Reply::Answer { status: 200, headers, body })
        }
        Reply::Answer { status, headers, body } => {
            let mut all = vec![(":status".to_owned(), status.to_string())];
            all.extend(headers.into_iter().map(|(name, value)| (name.to_owned(), value)));
            let pairs: Vec<_> = all.iter().map(|(name, value)| pair(name, value)).collect();
            state.bodies.insert(id, (body, 0));
            let provider = sys::nghttp2_data_provider2 {
                source: sys::nghttp2_data_source { fd: 0 },
                read_callback: Some(read_body),
            };
            // SAFETY: it copies what the pairs point to.
            unsafe {
                sys::nghttp2_submit_response2(session, id, pairs.as_ptr(), pairs.len(), &raw const provider);
            }
            true
        }
        // SAFETY: the session is alive.
        Reply::Reset(code) => unsafe {
            sys::nghttp2_submit_rst_stream(session, 0, id, code);
            true
        },
        // SAFETY: the session is alive.
        Reply::GoAway(code) => unsafe {
            sys::nghttp2_submit_goaway(session, 0, (id - 2).max(0), code, ptr::null(), 0);
            true
        },
        Reply::Silence => true,
        Reply::Once(holds, reply) if holds() => act(session, state, id, *reply),
        waits @ Reply::Once(..) => {
            state.waiting.push((id, waits));
            true
        }
        Reply::Close => false,
    }
}

fn send(session: *mut sys::nghttp2_session, stream: &mut impl Write) -> Option<()> {
    loop {
        let mut bytes = ptr::null();
        // SAFETY: the session is alive; what it points to is there until the next call.
        let sent = unsafe {
            let count = sys::nghttp2_session_mem_send2(session, &raw mut bytes);
            if count <= 0 {
                break;
            }
            stream.write_all(slice::from_raw_parts(bytes, count as usize))
        };
        sent.ok()?;
    }
    stream.flush().ok()
}

fn session(user: *mut c_void, settings: &Settings) -> *mut sys::nghttp2_session {
    let Settings { streams_max, window, table } = settings;
    let all = [(3, streams_max), (4, window), (1, table)];
    let set = |(id, value): (i32, &Option<u32>)| {
        value.map(|value| sys::nghttp2_settings_entry { settings_id: id, value })
    };
    let entries: Vec<_> = all.into_iter().filter_map(set).collect();
    let (mut session, mut callbacks) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the state outlives the session; the callbacks are copied.
    unsafe {
        sys::nghttp2_session_callbacks_new(&raw mut callbacks);
        sys::nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, Some(on_begin));
        sys::nghttp2_session_callbacks_set_on_header_callback(callbacks, Some(on_header));
        sys::nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Some(on_data));
        sys::nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Some(on_frame));
        sys::nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Some(on_close));
        sys::nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks, Some(on_invalid));
        sys::nghttp2_session_server_new(&raw mut session, callbacks, user);
        sys::nghttp2_session_callbacks_del(callbacks);
        sys::nghttp2_submit_settings(session, 0, entries.as_ptr(), entries.len());
    }
    session
}

// SAFETY, of all callbacks: nghttp2 hands over the state that it was given, and pointers that hold during the call.
unsafe fn state<'a>(user: *mut c_void) -> &'a mut State {
    unsafe { &mut *user.cast() }
}

unsafe extern "C" fn on_begin(
    _: *mut sys::nghttp2_session,
    frame: *const sys::nghttp2_frame,
    user: *mut c_void,
) -> i32 {
    unsafe { state(user).open.insert((*frame).hd.stream_id, Request::default()) };
    0
}

unsafe extern "C" fn on_header(
    _: *mut sys::nghttp2_session,
    frame: *const sys::nghttp2_frame,
    name: *const u8,
    name_bytes: usize,
    value: *const u8,
    value_bytes: usize,
    _: u8,
    user: *mut c_void,
) -> i32 {
    unsafe {
        let text = |bytes, count| String::from_utf8_lossy(slice::from_raw_parts(bytes, count)).into_owned();
        let (name, value) = (text(name, name_bytes), text(value, value_bytes));
        let request = state(user).open.entry((*frame).hd.stream_id).or_default();
        request.headers.insert(name, value);
    }
    0
}

unsafe extern "C" fn on_data(
    _: *mut sys::nghttp2_session,
    _: u8,
    id: i32,
    bytes: *const u8,
    count: usize,
    user: *mut c_void,
) -> i32 {
    unsafe {
        if let Some(request) = state(user).open.get_mut(&id) {
            request.body.extend_from_slice(slice::from_raw_parts(bytes, count));
        }
    }
    0
}

unsafe extern "C" fn on_frame(
    _: *mut sys::nghttp2_session,
    frame: *const sys::nghttp2_frame,
    user: *mut c_void,
) -> i32 {
    unsafe {
        let head = (*frame).hd;
        // DATA or HEADERS that are the last.
        if head.type_ < 2 && head.flags & 1 != 0 {
            state(user).whole.push(head.stream_id);
        }
    }
    0
}

unsafe extern "C" fn on_close(_: *mut sys::nghttp2_session, id: i32, _: u32, user: *mut c_void) -> i32 {
    unsafe {
        state(user).open.remove(&id);
        state(user).bodies.remove(&id);
    }
    0
}

unsafe extern "C" fn on_invalid(
    _: *mut sys::nghttp2_session,
    _: *const sys::nghttp2_frame,
    _: i32,
    user: *mut c_void,
) -> i32 {
    unsafe { state(user).refused += 1 };
    0
}

unsafe extern "C" fn read_body(
    session: *mut sys::nghttp2_session,
    id: i32,
    into: *mut u8,
    room: usize,
    flags: *mut u32,
    _: *mut sys::nghttp2_data_source,
    user: *mut c_void,
) -> sys::nghttp2_ssize {
    unsafe {
        let Some((body, sent)) = state(user).bodies.get_mut(&id) else {
            *flags |= sys::NGHTTP2_DATA_FLAG_EOF;
            return 0;
        };
        let count = room.min(body.len() - *sent);
        ptr::copy_nonoverlapping(body[*sent..].as_ptr(), into, count);
        *sent += count;
        if *sent == body.len() {
            *flags |= sys::NGHTTP2_DATA_FLAG_EOF;
            if let Some(trailers) = state(user).trailers.remove(&id) {
                *flags |= sys::NGHTTP2_DATA_FLAG_NO_END_STREAM;
                let pairs: Vec<_> = trailers.iter().map(|(name, value)| pair(name, value)).collect();
                sys::nghttp2_submit_trailer(session, id, pairs.as_ptr(), pairs.len());
            }
        }
        count as sys::nghttp2_ssize
    }
}
