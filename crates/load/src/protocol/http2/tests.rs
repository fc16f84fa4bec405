//! HTTP/2 by frames: what a server may do, in pieces of any size.

use super::*;
use proptest::prelude::*;

/// A header block that says 200, and one that says 204.
const OK: &[u8] = &[0x88];
const NO_CONTENT: &[u8] = &[0x89];

fn put(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    frame::put(&mut out, kind, flags, stream, payload);
    out
}

fn headers(stream: u32, flags: u8, block: &[u8]) -> Vec<u8> {
    put(frame::HEADERS, frame::END_HEADERS | flags, stream, block)
}

fn data(stream: u32, flags: u8, body: &[u8]) -> Vec<u8> {
    put(frame::DATA, flags, stream, body)
}

fn settings(settings: &[(u16, u32)]) -> Vec<u8> {
    let bytes = |(key, value): &(u16, u32)| [&key.to_be_bytes()[..], &value.to_be_bytes()].concat();
    put(frame::SETTINGS, 0, 0, &settings.iter().flat_map(bytes).collect::<Vec<u8>>())
}

/// As in a block that does not compress.
fn literal(name: &str, value: &str) -> Vec<u8> {
    [&[0, name.len() as u8], name.as_bytes(), &[value.len() as u8], value.as_bytes()].concat()
}

struct Client {
    http2: Http2,
    out: Vec<u8>,
}

impl Client {
    fn new(streams: usize) -> Client {
        let mut http2 = Http2::new(Arc::new(Server { is_secure: false, authority: "h".into(), streams }));
        let mut out = Vec::new();
        http2.begin(1, &mut out);
        assert!(out.starts_with(PREFACE) && !http2.is_ready());
        Client { http2, out: Vec::new() }
    }

    /// One to which the server said these settings, and which sent a GET on each stream.
    fn asking(streams: usize, said: &[(u16, u32)]) -> Client {
        let mut client = Client::new(streams);
        assert_eq!(client.fed(&settings(said), 7).expect("settings"), []);
        for at in 0..streams {
            client.send(at, "GET", None);
        }
        client.out.clear();
        client
    }

    fn send(&mut self, at: usize, method: &str, body: Option<&[u8]>) {
        let mut request = Request::default();
        request.write(RequestPart::Method, |out| out.extend_from_slice(method.as_bytes()));
        request.write(RequestPart::Target, |out| out.push(b'/'));
        request.write(RequestPart::Body, |out| out.extend_from_slice(body.unwrap_or_default()));
        request.has_body = body.is_some();
        request.keeps_body = true;
        self.http2.send(at, &request, &mut self.out);
    }

    fn fed(&mut self, bytes: &[u8], piece: usize) -> Result<Vec<Event>, Failure> {
        let mut events = Vec::new();
        for mut bytes in bytes.chunks(piece) {
            while !bytes.is_empty() {
                let (taken, event) = self.http2.feed(bytes, &mut self.out)?;
                bytes = &bytes[taken..];
                events.extend(event);
            }
        }
        Ok(events)
    }

    /// Frames that it sent, and forgets them: kind, flags, stream, length.
    fn sent(&mut self) -> Vec<(u8, u8, u32, usize)> {
        let (mut frames, mut rest) = (Vec::new(), self.out.as_slice());
        while let Some(head) = rest.first_chunk().map(Head::read) {
            frames.push((head.kind, head.flags, head.stream, head.length));
            rest = &rest[HEAD_BYTES + head.length..];
        }
        self.out.clear();
        frames
    }
}

fn answered(stream: usize) -> Event {
    Event::Answered { stream, keep_alive: true }
}

#[test]
fn answers_are_read_in_any_pieces_in_any_order() {
    let block =
        [OK, &literal("set-cookie", "a=1"), &literal("location", "/b"), &literal("content-length", "4")]
            .concat();
    let padded = [&[3][..], b"dy", &[0; 3]].concat();
    let bytes = [
        headers(3, 0, &block),
        headers(1, frame::END_STREAM, NO_CONTENT),
        put(frame::PING, 0, 0, &[7; 8]),
        data(3, 0, b"bo"),
        put(0x77, 0, 0, b"what later standards add"),
        data(3, 8 | frame::END_STREAM, &padded),
    ]
    .concat();
    for piece in [1, 2, 9, 10, bytes.len()] {
        let mut client = Client::asking(2, &[]);
        assert_eq!(client.fed(&bytes, piece).expect("good frames"), [answered(0), answered(1)], "{piece}");
        let answer = client.http2.answer(1);
        assert_eq!(
            (answer.status, answer.body.as_slice(), answer.location.as_slice()),
            (200, &b"body"[..], &b"/b"[..])
        );
        assert_eq!(answer.set_cookies().collect::<Vec<_>>(), [b"a=1"]);
        assert_eq!(client.http2.answer(0).status, 204);
        assert_eq!(client.sent(), [(frame::PING, frame::ACK, 0, 8)]);
    }
}

#[test]
fn each_piece_of_a_stream_of_events_says_so_until_the_last_awaited_one() {
    let mut client = Client::asking(1, &[]);
    client.http2.streams[0].answer.events.begin(3);
    let streamed = Event::Streamed { stream: 0 };
    let pieces: [(&[u8], &[Event]); 4] = [
        (b": ping\n\n", &[]),
        (b"data: 1\n\nda", &[streamed]),
        (b"ta: 2\n\n", &[streamed]),
        (b"data: 3\n\ndata: 4\n\n", &[answered(0)]),
    ];
    client.fed(&headers(1, 0, OK), 9).expect("good frames");
    for (bytes, want) in pieces {
        assert_eq!(client.fed(&data(1, 0, bytes), 1_000).expect("good frames"), want, "{bytes:?}");
    }
}

#[test]
fn a_long_head_comes_in_several_frames_also_with_priority_and_padding() {
    let block = [OK, &literal("location", "/somewhere")].concat();
    let first = [&[2][..], &[0; 5], &block[..3], &[0; 2]].concat();
    let bytes = [
        put(frame::HEADERS, 8 | 0x20 | frame::END_STREAM, 1, &first),
        put(frame::CONTINUATION, 0, 1, &block[3..6]),
        put(frame::CONTINUATION, frame::END_HEADERS, 1, &block[6..]),
    ]
    .concat();
    let mut client = Client::asking(1, &[]);
    assert_eq!(client.fed(&bytes, 5).expect("good frames"), [answered(0)]);
    assert_eq!(client.http2.answer(0).location, b"/somewhere");
}

#[test]
fn interim_answers_and_trailers_are_no_part_of_an_answer() {
    let interim = [&literal(":status", "103")[..], &literal("set-cookie", "no=1")].concat();
    let bytes = [
        headers(1, 0, &interim),
        headers(1, 0, OK),
        data(1, 0, b"x"),
        headers(1, frame::END_STREAM, &literal("grpc-status", "0")),
    ]
    .concat();
    let mut client = Client::asking(1, &[]);
    assert_eq!(client.fed(&bytes, 100).expect("good frames"), [answered(0)]);
    assert_eq!((client.http2.answer(0).status, client.http2.answer(0).set_cookies().count()), (200, 0));
}

#[test]
fn a_body_waits_for_the_windows_and_goes_on_when_they_open() {
    let mut client = Client::new(2);
    client.fed(&settings(&[(4, 10)]), 100).expect("settings");
    client.sent();
    client.send(0, "POST", Some(&[b'x'; 25]));
    assert_eq!(client.sent()[1..], [(frame::DATA, 0, 1, 10)]);
    let more = |stream, more: u32| put(frame::WINDOW_UPDATE, 0, stream, &more.to_be_bytes());
    client.fed(&more(1, 4), 100).expect("a window");
    assert_eq!(client.sent(), [(frame::DATA, 0, 1, 4)]);
    // Settings change the windows of all streams, also to less than nothing.
    client.fed(&settings(&[(4, 0)]), 100).expect("settings");
    client.fed(&more(1, 10), 100).expect("a window");
    assert_eq!(client.sent(), [(frame::SETTINGS, frame::ACK, 0, 0)]);
    client.fed(&settings(&[(4, 100)]), 100).expect("settings");
    assert_eq!(client.sent()[1..], [(frame::DATA, frame::END_STREAM, 1, 11)]);
    // The window of all bodies together, and frames of the length that is allowed.
    client.fed(&settings(&[(4, 1 << 20)]), 100).expect("settings");
    client.sent();
    client.send(1, "POST", Some(&vec![b'x'; 100_000]));
    let left = (65_535 - 25) % 16_384;
    let whole = (frame::DATA, 0, 3, 16_384);
    assert_eq!(client.sent()[1..], [whole, whole, whole, (frame::DATA, 0, 3, left)]);
    client.fed(&more(0, 1 << 20), 100).expect("a window");
    let sent = client.sent();
    assert_eq!(sent.iter().map(|frame| frame.3).sum::<usize>(), 100_000 - 65_510);
    assert_eq!(sent.last().map(|frame| frame.1), Some(frame::END_STREAM));
}

#[test]
fn an_answer_before_the_request_is_whole_ends_the_request() {
    let mut client = Client::new(1);
    client.fed(&settings(&[(4, 0)]), 100).expect("settings");
    client.send(0, "POST", Some(b"body"));
    client.sent();
    assert_eq!(client.fed(&headers(1, frame::END_STREAM, OK), 100).expect("an answer"), [answered(0)]);
    assert_eq!(client.sent(), [(frame::RST_STREAM, 0, 1, 4)]);
}

#[test]
fn no_more_requests_than_the_server_allows_find_room() {
    let mut client = Client::new(3);
    client.fed(&settings(&[(3, 2)]), 100).expect("settings");
    assert_eq!([0, 1, 2].map(|at| client.http2.takes(at)), [true, true, false]);
    client.send(0, "GET", None);
    client.send(1, "GET", None);
    assert!(!client.http2.has_room());
    assert_eq!(client.fed(&settings(&[(3, 3)]), 100).expect("settings"), [Event::Room]);
    assert!(client.http2.has_room() && client.http2.takes(2));
    client.http2.abandon(0, &mut client.out);
    assert_eq!(client.sent().last(), Some(&(frame::RST_STREAM, 0, 1, 4)));
    // Later frames of it belong to no request, but change the table.
    let late =
        [headers(1, 0, OK), data(1, frame::END_STREAM, b"late"), headers(3, frame::END_STREAM, OK)].concat();
    assert_eq!(client.fed(&late, 3).expect("good frames"), [answered(1)]);
}

#[test]
fn a_server_that_leaves_answers_what_it_took() {
    let mut client = Client::asking(3, &[]);
    let go_away = put(frame::GOAWAY, 0, 0, &[3_u32.to_be_bytes(), [0; 4]].concat());
    assert_eq!(client.fed(&go_away, 4).expect("a good frame"), [Event::Leaving]);
    assert_eq!([0, 1, 2].map(|at| client.http2.is_undone(at)), [false, false, true]);
    // In steps, as a server does that knows only later what it took: it leaves once.
    assert_eq!(client.fed(&go_away, 4).expect("a good frame"), [Event::Leaving]);
    assert_eq!([client.http2.take_goodbye(), client.http2.take_goodbye()], [Some(0), None]);
    assert!(!client.http2.has_room() && !client.http2.takes(0) && client.http2.goes_on());
    client.http2.abandon(2, &mut client.out);
    let bytes = [headers(1, frame::END_STREAM, OK), headers(3, frame::END_STREAM, OK)].concat();
    let last = Event::Answered { stream: 1, keep_alive: false };
    assert_eq!(client.fed(&bytes, 100).expect("answers"), [answered(0), last]);
    assert!(!client.http2.goes_on() && client.http2.close().expect("in good order").is_none());
}

#[test]
fn a_stream_fails_alone() {
    let reset = |code: u32| put(frame::RST_STREAM, 0, 1, &code.to_be_bytes());
    let length = [OK, &literal("content-length", "5")].concat();
    for (bytes, is_undone, said) in [
        (reset(2), false, "INTERNAL_ERROR"),
        (reset(7), true, "REFUSED_STREAM"),
        (reset(99), false, "unknown"),
        (data(1, 0, b"x"), false, "without a head"),
        ([headers(1, 0, &length), data(1, frame::END_STREAM, b"four")].concat(), false, "another length"),
        (headers(1, frame::END_STREAM, &length), false, "another length"),
        (headers(1, 0, &literal("a", "b")), false, "without a status"),
        (headers(1, 0, &literal(":status", "2000")), false, "without a status"),
        (headers(1, 0, &[OK, OK].concat()), false, "pseudo-header"),
        (headers(1, 0, &[&literal("a", "b")[..], OK].concat()), false, "pseudo-header"),
        (headers(1, 0, &literal(":status", "101")), false, "101"),
        (headers(1, frame::END_STREAM, &literal(":status", "100")), false, "interim"),
        (
            (0..20).flat_map(|_| headers(1, 0, &literal(":status", "100"))).collect(),
            false,
            "too many interim",
        ),
        ([headers(1, 0, OK), headers(1, 0, OK)].concat(), false, "within the body"),
        ([headers(1, 0, NO_CONTENT), data(1, frame::END_STREAM, b"x")].concat(), false, "none may be"),
        (headers(1, 0, &[OK, &literal("content-length", "x")].concat()), false, "not one number"),
        (put(frame::WINDOW_UPDATE, 0, 1, &[0; 4]), false, "widened by nothing"),
    ] {
        let mut client = Client::asking(2, &[]);
        let events = client.fed(&bytes, 6).expect("the connection goes on");
        let [Event::Failed { stream: 0, is_undone: undone, why }] = events[..] else {
            panic!("{said}: {events:?}")
        };
        assert_eq!(undone, is_undone);
        assert!(why.contains(said), "{why}");
        let fine = [headers(3, 0, OK), data(3, frame::END_STREAM, b"")].concat();
        assert_eq!(client.fed(&fine, 100).expect("the connection goes on"), [answered(1)]);
    }
}

#[test]
fn what_is_not_http2_breaks_the_connection() {
    let go_away = [&[0; 4][..], &11_u32.to_be_bytes(), b"too many\r\npings"].concat();
    for (bytes, said) in [
        (put(frame::GOAWAY, 0, 0, &go_away), "ENHANCE_YOUR_CALM, and says \"too manypings\""),
        (put(frame::GOAWAY, 0, 0, &[0; 5]), "wrong length"),
        (put(frame::PUSH_PROMISE, frame::END_HEADERS, 1, &[0; 8]), "pushed"),
        (headers(5, 0, OK), "not opened"),
        (headers(2, 0, OK), "not opened"),
        (data(0, 0, b"x"), "not opened"),
        (headers(1, 0, &[0xff; 9]), "decompressed"),
        (put(frame::HEADERS, frame::END_HEADERS | 8, 1, &[9, 0]), "padding"),
        (put(frame::DATA, 8, 1, &[]), "wrong length"),
        (put(frame::HEADERS, frame::END_HEADERS | 0x20, 1, &[0; 3]), "wrong length"),
        ([put(frame::HEADERS, 0, 1, OK), data(1, 0, b"x")].concat(), "interrupt"),
        (put(frame::CONTINUATION, 0, 1, OK), "interrupt"),
        ([put(frame::HEADERS, 0, 1, OK), put(frame::CONTINUATION, 0, 1, &[])].concat(), "longer than 64 KiB"),
        (settings(&[(4, 1 << 31)]), "out of its range"),
        (settings(&[(5, 1)]), "out of its range"),
        (put(frame::SETTINGS, 0, 0, &[0; 5]), "wrong length"),
        (put(frame::PING, 0, 0, &[0; 7]), "wrong length"),
        (put(frame::WINDOW_UPDATE, 0, 0, &i32::MAX.to_be_bytes()), "beyond 2 GiB"),
        (put(frame::WINDOW_UPDATE, 0, 0, &[0; 4]), "widened by nothing"),
        (put(frame::DATA, 0, 1, &[0; 20_000]), "longer than 16 KiB"),
        ((0..=10_000).flat_map(|_| put(frame::PING, 0, 0, &[0; 8])).collect(), "does not read"),
    ] {
        for piece in [3, bytes.len()] {
            let error = Client::asking(1, &[]).fed(&bytes, piece).expect_err(said).to_string();
            assert!(error.contains(said), "{said}: {error}");
        }
    }
    let part = [&[0x40, 1, b'a', 0x7f, 0x80, 0x7f][..], &[b'x'; 16_000]].concat();
    let many = [vec![put(frame::HEADERS, 0, 1, OK)], vec![put(frame::CONTINUATION, 0, 1, &part); 5]]
        .concat()
        .concat();
    let error = Client::asking(1, &[]).fed(&many, 1_000).expect_err("too long").to_string();
    assert!(error.contains("longer than 64 KiB"), "{error}");
    for (bytes, said) in [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), "answers with HTTP/1.1"),
        (put(frame::PING, 0, 0, &[0; 8]), "does not begin with SETTINGS"),
        (put(frame::SETTINGS, frame::ACK, 0, &[]), "does not begin with SETTINGS"),
    ] {
        for piece in [1, 100] {
            let error = Client::new(1).fed(&bytes, piece).expect_err(said).to_string();
            assert!(error.contains(said), "{error}");
        }
    }
    let mut client = Client::new(1);
    assert!(client.http2.close().expect_err("no settings").to_string().contains("SETTINGS"));
    let mut client = Client::asking(1, &[]);
    assert!(client.http2.close().expect_err("no answer").is_orderly());
    client.fed(&headers(1, 0, OK), 100).expect("a head");
    assert!(!client.http2.close().expect_err("no whole answer").is_orderly());
}

#[test]
fn a_head_longer_than_a_frame_is_sent_in_several() {
    let mut client = Client::asking(1, &[]);
    let mut request = Request::default();
    request.write(RequestPart::Method, |out| out.extend_from_slice(b"GET"));
    request.write(RequestPart::Target, |out| out.extend_from_slice(&[b'/'; 40_000]));
    client.http2.abandon(0, &mut client.out);
    client.sent();
    client.http2.send(0, &request, &mut client.out);
    let sent = client.sent();
    let kinds: Vec<_> = sent.iter().map(|frame| (frame.0, frame.1)).collect();
    assert_eq!(
        kinds,
        [
            (frame::HEADERS, frame::END_STREAM),
            (frame::CONTINUATION, 0),
            (frame::CONTINUATION, frame::END_HEADERS)
        ]
    );
    assert!(40_000 < sent.iter().map(|frame| frame.3).sum::<usize>());
}

fn any_frame() -> impl Strategy<Value = Vec<u8>> {
    let payload = proptest::collection::vec(any::<u8>(), 0..40);
    (0..11_u8, any::<u8>(), 0..8_u32, payload)
        .prop_map(|(kind, flags, stream, payload)| put(kind, flags, stream, &payload))
}

proptest! {
    #[test]
    fn any_bytes_are_events_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..300), piece in 1_usize..40) {
        let _ = Client::asking(3, &[]).fed(&bytes, piece);
        let _ = Client::new(3).fed(&bytes, piece);
    }

    #[test]
    fn any_frames_are_events_or_an_error_however_they_are_cut(frames in proptest::collection::vec(any_frame(), 0..20), piece in 1_usize..40) {
        let bytes = frames.concat();
        let all = |piece| Client::asking(3, &[(3, 2)]).fed(&bytes, piece).map_err(|failure| failure.to_string());
        prop_assert_eq!(all(piece), all(bytes.len().max(1)));
    }
}
