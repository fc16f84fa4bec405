//! Answers whole, in pieces, broken and endless.

use super::*;
use crate::protocol::BODY_KEPT_BYTES_MAX;
use proptest::prelude::*;

/// What came of feeding `bytes` in pieces of `piece` and then, if it goes on, closing the connection.
fn read(bytes: &[u8], piece: usize) -> (Result<Progress, Broken>, u16, Vec<u8>) {
    let mut reader = ResponseReader::new();
    reader.begin(true, true);
    let mut progress = Ok(Progress::More);
    for piece in bytes.chunks(piece.max(1)) {
        progress = reader.feed(piece);
        if progress.is_err() {
            break;
        }
    }
    if progress == Ok(Progress::More) {
        progress = reader.close();
    }
    (progress, reader.answer().status, reader.answer().body.clone())
}

#[track_caller]
fn check(answer: &str, want: Result<bool, Broken>, status: u16, body: &str) {
    for piece in [1, 2, 3, 7, answer.len()] {
        let (progress, read_status, read_body) = read(answer.as_bytes(), piece);
        assert_eq!(progress, want.map(|keep_alive| Progress::Done { keep_alive }), "in pieces of {piece}");
        if want.is_ok() {
            assert_eq!((read_status, String::from_utf8_lossy(&read_body).as_ref()), (status, body));
        }
    }
}

#[test]
fn a_body_ends_where_its_length_says() {
    check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", Ok(true), 200, "hello");
    check("HTTP/1.1 200 \r\ncontent-length:0\r\n\r\n", Ok(true), 200, "");
    check("HTTP/1.1 200 OK\nContent-Length: 2\n\nok", Ok(true), 200, "ok");
}

#[test]
fn chunks_are_joined_and_extensions_and_trailers_dropped() {
    let chunks = "5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nTrailer: 1\r\n\r\n";
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    check(&format!("{head}{chunks}"), Ok(true), 200, "hello world");
    check(&format!("{head}0\r\n\r\n"), Ok(true), 200, "");
}

#[test]
fn without_a_length_the_body_ends_with_the_connection() {
    check("HTTP/1.1 200 OK\r\n\r\nall of it", Ok(false), 200, "all of it");
    check("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", Ok(false), 200, "ok");
}

#[test]
fn what_ends_with_a_connection_that_was_cut_off_is_not_whole() {
    let cut = |answer: &str| {
        let mut reader = ResponseReader::new();
        reader.begin(true, true);
        let progress = reader.feed(answer.as_bytes()).expect("no fault so far");
        if progress == Progress::More { reader.cut() } else { Ok(progress) }
    };
    assert_eq!(cut("HTTP/1.1 200 OK\r\n\r\nall of it"), Err(Broken::Cut));
    assert_eq!(
        cut("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
        Ok(Progress::Done { keep_alive: true })
    );
    assert_eq!(cut("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok"), Err(Broken::ClosedWithin));
    assert_eq!(cut(""), Err(Broken::ClosedBefore));
}

#[test]
fn interim_answers_are_skipped_with_their_headers() {
    let mut reader = ResponseReader::new();
    reader.begin(true, true);
    reader.keep_head();
    let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\nLocation: /early\r\nSet-Cookie: early=1\r\n\r\n";
    let last = "HTTP/1.1 200 OK\r\nX: 1\r\nContent-Length: 2\r\n\r\nok";
    let progress = reader.feed(format!("{interim}{last}").as_bytes());
    assert_eq!(progress, Ok(Progress::Done { keep_alive: true }));
    let answer = reader.answer();
    assert_eq!(
        (answer.status, answer.body.as_slice(), answer.location.as_slice()),
        (200, &b"ok"[..], &b""[..])
    );
    assert_eq!((answer.set_cookies().count(), answer.head.as_slice()), (0, &b"X:1\nContent-Length:2\n"[..]));
    check("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", Err(Broken::Switch), 101, "");
}

#[test]
fn a_head_of_too_many_lines_says_so() {
    let head =
        |lines: usize| format!("HTTP/1.1 200 OK\r\n{}Content-Length: 0\r\n\r\n", "X: 1\r\n".repeat(lines));
    check(&head(127), Ok(true), 200, "");
    check(&head(128), Err(Broken::HeadersTooMany), 200, "");
    assert_eq!(Broken::HeadersTooMany.to_string(), "head of more than 128 header lines");
}

#[test]
fn connection_close_is_heeded_and_http_1_0_can_keep_alive() {
    check("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx", Ok(false), 200, "x");
    check("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\nx", Ok(true), 200, "x");
}

#[test]
fn interim_answers_and_answers_without_body_are_told_apart() {
    check("HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 204 No\r\n\r\n", Ok(true), 204, "");
    check("HTTP/1.1 304 Same\r\nContent-Length: 9\r\n\r\n", Ok(true), 304, "");
}

#[test]
fn answers_to_head_have_no_body() {
    let mut reader = ResponseReader::new();
    reader.begin(false, false);
    let progress = reader.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n");
    assert_eq!(progress, Ok(Progress::Done { keep_alive: true }));
}

#[test]
fn broken_answers_are_told() {
    check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", Err(Broken::ClosedWithin), 0, "");
    check("SMTP ready\r\n\r\n", Err(Broken::Head), 0, "");
    check("HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\n", Err(Broken::Length), 0, "");
    check("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", Err(Broken::Length), 0, "");
    check("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", Err(Broken::Length), 0, "");
    check("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", Err(Broken::Coding), 0, "");
    check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", Err(Broken::Chunk), 0, "");
    check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab", Err(Broken::Chunk), 0, "");
    check("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxy", Err(Broken::Surplus), 0, "");
    check("", Err(Broken::ClosedBefore), 0, "");
}

#[test]
fn endless_heads_trailers_chunk_lines_and_interims_are_cut_off() {
    let endless = |start: &str, more: &str| {
        let mut reader = ResponseReader::new();
        reader.begin(true, true);
        let mut progress = reader.feed(start.as_bytes());
        for _ in 0..200_000 {
            if progress.is_err() {
                break;
            }
            progress = reader.feed(more.as_bytes());
        }
        assert!(reader.head.capacity() <= 2 * HEAD_BYTES_MAX);
        progress
    };
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_eq!(endless("HTTP/1.1 200 OK\r\n", "X: yyyyyyyyyy\r\n"), Err(Broken::HeadTooLong));
    assert_eq!(endless(&format!("{chunked}0\r\n"), "X: yyyyyyyyyy\r\n"), Err(Broken::TrailersTooLong));
    assert_eq!(endless(&format!("{chunked}1;"), "yyyyyyyy"), Err(Broken::Chunk));
    assert_eq!(endless("", "HTTP/1.1 100 Go on\r\n\r\n"), Err(Broken::Interim));
}

#[test]
fn a_large_body_is_counted_but_only_a_mebibyte_is_kept() {
    let length = 3 * BODY_KEPT_BYTES_MAX;
    let mut answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n").into_bytes();
    answer.resize(answer.len() + length, b'x');
    let (progress, _, body) = read(&answer, 10_000);
    assert_eq!((progress, body.len()), (Ok(Progress::Done { keep_alive: true }), BODY_KEPT_BYTES_MAX));
}

#[test]
fn the_cookies_of_an_answer_are_those_of_its_final_head() {
    let mut reader = ResponseReader::new();
    reader.begin(true, false);
    let progress = reader.feed(
        b"HTTP/1.1 103 Early\r\nSet-Cookie: no=1\r\n\r\nHTTP/1.1 204 No\r\nSet-Cookie: a=1; Path=/\r\nset-cookie: b=2\r\n\r\n",
    );
    assert_eq!(progress, Ok(Progress::Done { keep_alive: true }));
    let cookies: Vec<&[u8]> = reader.answer().set_cookies().collect();
    assert_eq!(cookies, [b"a=1; Path=/".as_slice(), b"b=2"]);
}

proptest! {
    #[test]
    fn any_bytes_in_any_pieces_give_an_answer_or_an_error(
        bytes in proptest::collection::vec(any::<u8>(), 0..2_000), piece in 1..50usize
    ) {
        let _ = read(&bytes, piece);
    }

    #[test]
    fn a_damaged_answer_never_panics_and_pieces_make_no_difference(
        at in 0..110usize, byte: u8, piece in 1..50usize
    ) {
        let mut answer = b"HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nTransfer-Encoding: chunked\r\n\r\n\
            5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nTrailer: 1\r\n\r\n".to_vec();
        let at = at % answer.len();
        answer[at] = byte;
        let (whole, status, body) = read(&answer, usize::MAX);
        let (pieces, pieces_status, pieces_body) = read(&answer, piece);
        prop_assert_eq!(whole.is_ok(), pieces.is_ok());
        if whole.is_ok() {
            prop_assert_eq!((whole, status, body), (pieces, pieces_status, pieces_body));
        }
    }
}
