//! Chat: users who say lines to all others of their room, as `workloads/chat/PROTOCOL.md` specifies.
//!
//! Messages are lines, or messages of WebSocket. A connection is a user. Its messages have no answers of their own: they are delivered on the
//! connections of the other users.

use super::websocket::{Socket, WebSocketTarget, seed};
use super::{Answer, Event, Exchange, Failure};
use crate::request::{Request, RequestPart};
use std::sync::Arc;

/// Longest line, with its end, bytes.
const LINE_BYTES_MAX: usize = 1024;
/// Messages of one user that may be under way at once.
pub(crate) const STREAMS: usize = 8;

/// State shared by all users of a generator.
#[derive(Debug)]
pub(crate) struct Rooms {
    /// Prefix of user and room names, unique among the loads on the server.
    pub tag: String,
    /// Users of each room.
    pub users: usize,
    /// What they say.
    pub text: Vec<u8>,
}

/// How far a connection has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// `welcome` is awaited.
    Greeting,
    /// `joined` is awaited.
    Joining,
    Joined,
}

/// How messages are parted.
enum Wire {
    Lines {
        /// The start of a line whose end did not come yet.
        held: Vec<u8>,
    },
    WebSocket(Socket),
}

pub(crate) struct Chat {
    wire: Wire,
    user: User,
    answer: Answer,
}

/// What is said, without how.
struct User {
    rooms: Arc<Rooms>,
    /// Number of the user, and of its connection.
    number: usize,
    generation: u32,
    stage: Stage,
    said: u64,
}

impl Chat {
    /// In lines, or at a place of WebSocket.
    pub fn new(rooms: Arc<Rooms>, number: usize, place: Option<Arc<WebSocketTarget>>) -> Chat {
        let wire = match place {
            None => Wire::Lines { held: Vec::new() },
            Some(place) => Wire::WebSocket(Socket::new(place, LINE_BYTES_MAX)),
        };
        let user = User { rooms, number, generation: 0, stage: Stage::Greeting, said: 0 };
        Chat { wire, user, answer: Answer { status: 200, ..Answer::default() } }
    }
}

impl Wire {
    /// Appends a message.
    fn put(&mut self, out: &mut Vec<u8>, message: std::fmt::Arguments<'_>, text: &[u8]) {
        let write = |out: &mut Vec<u8>| {
            // Writing to a Vec cannot fail.
            let _ = std::io::Write::write_fmt(out, message);
            out.extend_from_slice(text);
        };
        match self {
            Wire::WebSocket(socket) => socket.put_text(write, out),
            Wire::Lines { .. } => {
                write(out);
                out.push(b'\n');
            }
        }
    }
}

impl User {
    /// Says who it is, and joins its room.
    fn greet(&self, wire: &mut Wire, out: &mut Vec<u8>) {
        let (number, generation) = (self.number, self.generation);
        let Rooms { tag, users, .. } = &*self.rooms;
        let room = number / users;
        wire.put(out, format_args!("hello 1 {tag}.{number}.{generation}"), &[]);
        wire.put(out, format_args!("join {tag}-{room}"), &[]);
    }

    /// A whole line, without its end.
    fn line(&mut self, line: &[u8]) -> Result<Option<Event>, Failure> {
        let (word, rest) = word(line);
        match (word, self.stage) {
            (b"from", Stage::Joined) => self.delivery(rest),
            // Said by others before this user's `joined` was read: nobody counts on it.
            (b"from", _) => Ok(None),
            (b"welcome", Stage::Greeting) if self::word(rest).0 == b"1" => {
                self.stage = Stage::Joining;
                Ok(None)
            }
            (b"joined", Stage::Joining) => {
                self.stage = Stage::Joined;
                Ok(None)
            }
            _ => {
                let line = String::from_utf8_lossy(line).into_owned();
                Err(Failure::Protocol(format!("the server says {line:?}").into()))
            }
        }
    }

    /// `ROOM SENDER SEQ TEXT`
    fn delivery(&self, rest: &[u8]) -> Result<Option<Event>, Failure> {
        let (_room, rest) = word(rest);
        let (sender, rest) = word(rest);
        let (number, text) = word(rest);
        // Another load's user in this room is not counted.
        let Some((sender, generation)) = self.user(sender) else { return Ok(None) };
        let Some(number) = decimal(number) else {
            return Err(Failure::Protocol("a delivery without a number".into()));
        };
        if text != self.rooms.text {
            return Err(Failure::Protocol("the text of a delivery is not what was said".into()));
        }
        Ok(Some(Event::Delivered { sender, generation, number }))
    }

    /// Number and generation of a user of this load.
    fn user(&self, name: &[u8]) -> Option<(usize, u32)> {
        let rest = name.strip_prefix(self.rooms.tag.as_bytes())?.strip_prefix(b".")?;
        let dot = memchr::memchr(b'.', rest)?;
        let [number, generation] = [&rest[..dot], &rest[dot + 1..]].map(decimal);
        Some((usize::try_from(number?).ok()?, u32::try_from(generation?).ok()?))
    }
}

/// The first word, and what follows the space behind it.
fn word(line: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memchr(b' ', line) {
        Some(space) => (&line[..space], &line[space + 1..]),
        None => (line, &[]),
    }
}

fn decimal(word: &[u8]) -> Option<u64> {
    let digit = |byte: &u8| byte.is_ascii_digit().then(|| u64::from(byte - b'0'));
    let add = |sum: u64, byte: &u8| sum.checked_mul(10)?.checked_add(digit(byte)?);
    if word.is_empty() { None } else { word.iter().try_fold(0, add) }
}

impl Exchange for Chat {
    fn begin(&mut self, generation: u32, out: &mut Vec<u8>) {
        let Chat { wire, user, .. } = self;
        (user.generation, user.stage, user.said) = (generation, Stage::Greeting, 0);
        match wire {
            Wire::Lines { held } => {
                held.clear();
                user.greet(wire, out);
            }
            Wire::WebSocket(socket) => socket.begin(seed(user.number, generation), out),
        }
    }

    fn is_ready(&self) -> bool {
        self.user.stage == Stage::Joined
    }

    fn send(&mut self, _stream: usize, request: &Request, out: &mut Vec<u8>) {
        self.user.said += 1;
        self.wire.put(out, format_args!("say {} ", self.user.said), request.part(RequestPart::Body));
    }

    fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(usize, Option<Event>), Failure> {
        let Chat { wire, user, .. } = self;
        let held = match wire {
            Wire::Lines { held } => held,
            Wire::WebSocket(socket) => {
                let was_open = socket.is_open();
                let fed = socket.feed(bytes, out, |message| user.line(message))?;
                if !was_open && socket.is_open() {
                    user.greet(wire, out);
                }
                // An earlier failure gives the reason; and a chat that goes on has no end of its own.
                return if matches!(fed, (_, Some(Event::Leaving))) {
                    self.close().map(|_| fed)
                } else {
                    Ok(fed)
                };
            }
        };
        let end = memchr::memchr(b'\n', bytes);
        let piece = &bytes[..end.unwrap_or(bytes.len())];
        if LINE_BYTES_MAX <= held.len() + piece.len() {
            return Err(Failure::Protocol("a line is longer than 1024 bytes".into()));
        }
        let Some(end) = end else {
            held.extend_from_slice(piece);
            return Ok((bytes.len(), None));
        };
        if held.is_empty() {
            return Ok((end + 1, user.line(piece)?));
        }
        held.extend_from_slice(piece);
        let event = user.line(held);
        held.clear();
        Ok((end + 1, event?))
    }

    fn take_goodbye(&mut self) -> Option<u32> {
        match &mut self.wire {
            Wire::Lines { .. } => None,
            Wire::WebSocket(socket) => socket.take_goodbye(),
        }
    }

    fn close(&mut self) -> Result<Option<Event>, Failure> {
        match &self.wire {
            Wire::WebSocket(socket) if !socket.is_open() || socket.is_closed() => Err(socket.end()),
            _ => Err(Failure::Protocol("the server ended the connection of a user".into())),
        }
    }

    fn answer(&self, _stream: usize) -> &Answer {
        &self.answer
    }

    fn has_begun(&self, _stream: usize) -> bool {
        true
    }

    fn abandon(&mut self, _stream: usize, _out: &mut Vec<u8>) -> bool {
        true
    }

    fn sent(&self) -> u64 {
        self.user.said
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn chat() -> Chat {
        let mut chat =
            Chat::new(Arc::new(Rooms { tag: "t".into(), users: 20, text: b"a b".to_vec() }), 41, None);
        chat.begin(3, &mut Vec::new());
        chat
    }

    fn fed(chat: &mut Chat, bytes: &[u8], piece: usize) -> Result<Vec<Event>, Failure> {
        let mut events = Vec::new();
        for mut bytes in bytes.chunks(piece) {
            while !bytes.is_empty() {
                let (taken, event) = chat.feed(bytes, &mut Vec::new())?;
                bytes = &bytes[taken..];
                events.extend(event);
            }
        }
        Ok(events)
    }

    #[test]
    fn a_user_says_who_it_is_joins_its_room_and_numbers_what_it_says() {
        let (mut chat, mut out) = (chat(), Vec::new());
        chat.begin(4, &mut out);
        let mut request = Request::default();
        request.write(RequestPart::Body, |body| body.extend_from_slice(b"a b"));
        (0..2).for_each(|stream| chat.send(stream, &request, &mut out));
        assert_eq!(out, b"hello 1 t.41.4\njoin t-2\nsay 1 a b\nsay 2 a b\n");
    }

    #[test]
    fn deliveries_are_read_in_any_pieces_and_those_of_other_loads_skipped() {
        let lines = b"welcome 1 room=20 line=1024\njoined t-2 20\nfrom t-2 t.40.7 12 a b\nfrom t-2 other.1.1 9 hi\nfrom t-2 t.43.1 1 a b\n";
        let events = [(40, 7, 12), (43, 1, 1)].map(|(sender, generation, number)| Event::Delivered {
            sender,
            generation,
            number,
        });
        for piece in [1, 2, 7, lines.len()] {
            let mut chat = chat();
            assert!(!chat.is_ready());
            assert_eq!(fed(&mut chat, lines, piece).expect("good lines"), events, "pieces of {piece}");
            assert!(chat.is_ready());
        }
    }

    #[test]
    fn what_the_server_refuses_and_what_it_alters_breaks_the_connection() {
        const JOINED: &str = "welcome 1\njoined t-2 20\n";
        for (line, why) in [
            ("from t-2 t.40.7 12 a c", "not what was said"),
            ("from t-2 t.40.7 x a b", "without a number"),
            ("error sequence 4", "error sequence 4"),
            ("refused no-room join one", "refused no-room"),
        ] {
            let error = fed(&mut chat(), format!("{JOINED}{line}\n").as_bytes(), 5).expect_err(line);
            assert!(error.to_string().contains(why), "{error}");
        }
        let long = [JOINED.as_bytes(), &[b'x'; 2_000]].concat();
        assert!(fed(&mut chat(), &long, 100).expect_err("too long").to_string().contains("1024"));
        let full = fed(&mut chat(), b"welcome 1\nrefused room-full no place\n", 50).expect_err("full");
        assert!(full.to_string().contains("room-full"), "{full}");
    }

    proptest! {
        #[test]
        fn any_bytes_are_events_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..300), piece in 1_usize..40) {
            let _ = fed(&mut chat(), &[b"welcome 1\njoined r 1\nfrom r ".as_slice(), &bytes].concat(), piece);
        }
    }
}
