//! WebSocket by frames: what a server may do, in pieces of any size.

use super::*;
use proptest::prelude::*;

const OPENED: &str =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n";

fn socket() -> WebSocket {
    let place = WebSocketTarget { authority: "h:1".into(), target: "/ws".to_owned() };
    let mut socket = WebSocket::new(Arc::new(place), 3);
    let mut out = Vec::new();
    socket.begin(1, &mut out);
    let head = String::from_utf8(out).expect("text");
    assert!(head.starts_with("GET /ws HTTP/1.1\r\nHost: h:1\r\n") && head.ends_with("\r\n\r\n"), "{head}");
    assert!(head.contains(&format!("Sec-WebSocket-Key: {}\r\n", socket.socket.key)));
    socket
}

fn accept(key: &str) -> String {
    let sum =
        ring::digest::digest(&ring::digest::SHA1_FOR_LEGACY_USE_ONLY, format!("{key}{GUID}").as_bytes());
    BASE64.encode(sum)
}

/// One that is open, and asked something.
fn asked() -> WebSocket {
    let mut socket = socket();
    let head = format!("{OPENED}Sec-WebSocket-Accept: {}\r\n\r\n", accept(&socket.socket.key));
    assert_eq!(fed(&mut socket, head.as_bytes(), 7, &mut Vec::new()).expect("a good head"), []);
    assert!(socket.is_ready());
    ask(&mut socket, b"question");
    socket
}

fn ask(socket: &mut WebSocket, text: &[u8]) -> Vec<u8> {
    let (mut request, mut out) = (Request::default(), Vec::new());
    request.write(RequestPart::Body, |body| body.extend_from_slice(text));
    request.keeps_body = true;
    socket.send(STREAM, &request, &mut out);
    out
}

fn fed(socket: &mut WebSocket, bytes: &[u8], piece: usize, out: &mut Vec<u8>) -> Result<Vec<Event>, Failure> {
    let mut events = Vec::new();
    for mut bytes in bytes.chunks(piece) {
        while !bytes.is_empty() {
            let (taken, event) = socket.feed(bytes, out)?;
            bytes = &bytes[taken..];
            events.extend(event);
        }
    }
    Ok(events)
}

/// A short frame of a server: its first byte says its kind and whether it is the last.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    [&[first, payload.len() as u8], payload].concat()
}

/// As a server reads a frame.
fn unmasked(frame: &[u8]) -> (u8, Vec<u8>) {
    assert!(frame[1] & 0x80 != 0, "a client masks");
    let (length, rest) = match frame[1] & 0x7f {
        126 => (usize::from(u16::from_be_bytes([frame[2], frame[3]])), &frame[4..]),
        length => (usize::from(length), &frame[2..]),
    };
    let (mask, payload) = rest.split_at(4);
    assert_eq!(payload.len(), length);
    (frame[0], payload.iter().zip(mask.iter().cycle()).map(|(byte, key)| byte ^ key).collect())
}

const ANSWERED: Event = Event::Answered { stream: STREAM, keep_alive: true };

/// RFC 6455, section 1.3.
#[test]
fn the_key_of_the_standard_is_accepted_as_it_says() {
    assert_eq!(accept("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

#[test]
fn messages_are_masked_each_with_another_mask() {
    let mut socket = asked();
    let [first, second] = [0; 2].map(|_| ask(&mut socket, b"hello"));
    assert_ne!(first, second);
    assert_eq!([unmasked(&first), unmasked(&second)], [0; 2].map(|_| (0x81, b"hello".to_vec())));
    let long = vec![b'x'; 1_000];
    assert_eq!(unmasked(&ask(&mut socket, &long)), (0x81, long));
}

#[test]
fn answers_are_read_in_any_pieces_and_pings_between_them_answered() {
    let bytes = [
        frame(0x01, b"an"),
        frame(0x89, b"ping"),
        frame(0x00, b"sw"),
        frame(0x80, b"er"),
        frame(0x81, b"unasked"),
    ]
    .concat();
    for piece in [1, 2, 3, 5, bytes.len()] {
        let (mut socket, mut out) = (asked(), Vec::new());
        assert_eq!(
            fed(&mut socket, &bytes, piece, &mut out).expect("good frames"),
            [ANSWERED, Event::Pushed]
        );
        assert_eq!((socket.answer.status, socket.answer.body.as_slice()), (200, &b"answer"[..]));
        assert_eq!(unmasked(&out), (0x8a, b"ping".to_vec()));
    }
    let binary = [&[0x82, 126, 1, 0][..], &[0xff; 256]].concat();
    let mut socket = asked();
    assert_eq!(fed(&mut socket, &binary, 100, &mut Vec::new()).expect("a good frame"), [ANSWERED]);
    assert_eq!(socket.answer.body, [0xff; 256]);
}

#[test]
fn what_is_no_answer_is_pushed_and_the_next_one_is_read_alone() {
    let bytes = [frame(0x81, b"tick"), frame(0x81, b"answer")].concat();
    for piece in [1, 3, bytes.len()] {
        let (mut socket, mut out) = (asked(), Vec::new());
        let (first, second) = bytes.split_at(6);
        assert_eq!(fed(&mut socket, first, piece, &mut out).expect("a good frame"), [ANSWERED]);
        assert_eq!(socket.answer.body, b"tick");
        socket.await_next(STREAM);
        assert_eq!(fed(&mut socket, second, piece, &mut out).expect("a good frame"), [ANSWERED]);
        assert_eq!(socket.answer.body, b"answer");
        assert_eq!(fed(&mut socket, first, piece, &mut out).expect("a good frame"), [Event::Pushed]);
    }
}

#[test]
fn a_close_fails_what_was_asked_with_its_code_and_is_answered() {
    let close = frame(0x88, b"\x03\xf3no\r\nmore");
    let (mut socket, mut out) = (asked(), Vec::new());
    let error = fed(&mut socket, &close, 4, &mut out).expect_err("it was asked").to_string();
    assert_eq!(error, "the server closed the WebSocket with code 1011 (internal error), and says \"nomore\"");
    assert_eq!(unmasked(&out), (0x88, b"\x03\xf3".to_vec()));
    assert_eq!([socket.take_goodbye(), socket.take_goodbye()], [Some(1011), None], "once");
    // One that was asked nothing only leaves.
    let (mut socket, mut out) = (asked(), Vec::new());
    let all = [frame(0x81, b"a"), frame(0x88, b"")].concat();
    assert_eq!(fed(&mut socket, &all, 100, &mut out).expect("good frames"), [ANSWERED, Event::Leaving]);
    assert_eq!(socket.take_goodbye(), Some(close::NO_CODE));
    assert!(!socket.goes_on() && socket.close().expect("in good order").is_none());
}

#[test]
fn what_is_not_websocket_breaks_the_connection() {
    for (bytes, said) in [
        (frame(0xc1, b"x"), "extension"),
        (frame(0x83, b"x"), "unknown kind"),
        (frame(0x8b, b"x"), "unknown kind"),
        (vec![0x81, 0x81, 0, 0, 0, 0, b'x'], "masked"),
        (frame(0x09, b"x"), "fragmented"),
        ([&[0x89, 126, 0, 126][..], &[0; 126]].concat(), "longer than 125"),
        (frame(0x80, b"x"), "fragment of no message"),
        ([frame(0x01, b"x"), frame(0x81, b"x")].concat(), "within another"),
        (frame(0x81, b"\xff"), "UTF-8"),
        ([&[0x81, 127][..], &[0xff; 8]].concat(), "longer than"),
        ([&[0x81, 127, 0, 0, 0, 0][..], &[0x7f, 0, 0, 0]].concat(), "longer than 1048576 bytes"),
        ((0..=10_000).flat_map(|_| frame(0x89, b"")).collect(), "does not read"),
    ] {
        for piece in [1, bytes.len()] {
            let error = fed(&mut asked(), &bytes, piece, &mut vec![0]).expect_err(said).to_string();
            assert!(error.contains(said), "{said}: {error}");
        }
    }
    let fragments =
        [vec![frame(0x01, b"x")], vec![[&[0, 126, 0xff, 0xff][..], &[b'x'; 65_535]].concat(); 17]]
            .concat()
            .concat();
    let error = fed(&mut asked(), &fragments, 10_000, &mut Vec::new()).expect_err("too long").to_string();
    assert!(error.contains("longer than 1048576"), "{error}");
    assert!(!asked().close().expect_err("no answer").to_string().is_empty());
}

#[test]
fn a_server_that_does_not_open_one_is_told_why() {
    for (head, said) in [
        ("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno".to_owned(), "it answers 403 no"),
        ("welcome\r\n\r\n".to_owned(), "not HTTP/1.1"),
        (format!("{OPENED}{}\r\n", "X: 1\r\n".repeat(129)), "more than 128 header lines"),
        ("HTTP/1.1 101 X\r\n\r\n".to_owned(), "without upgrading"),
        (format!("{OPENED}Sec-WebSocket-Accept: {}\r\n\r\n", accept("other")), "Sec-WebSocket-Accept"),
        (format!("{OPENED}X: {}", "x".repeat(70_000)), "longer than 64 KiB"),
    ] {
        let error =
            fed(&mut socket(), head.as_bytes(), head.len(), &mut Vec::new()).expect_err(said).to_string();
        assert!(error.contains(said), "{said}: {error}");
    }
    assert!(socket().close().expect_err("nothing came").to_string().contains("instead of opening"));
}

proptest! {
    #[test]
    fn any_bytes_are_events_or_an_error_however_they_are_cut(bytes in proptest::collection::vec(any::<u8>(), 0..200), piece in 1_usize..40) {
        let all = |piece| fed(&mut asked(), &bytes, piece, &mut Vec::new()).map_err(|failure| failure.to_string());
        prop_assert_eq!(all(piece), all(bytes.len().max(1)));
        let _ = fed(&mut socket(), &bytes, piece, &mut Vec::new());
    }
}
