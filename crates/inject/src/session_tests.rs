//! Tests of messages in a session: what is written is read, and nothing else.

use crate::any_bytes_tests::keys_of_both_sides;
use crate::frame::{FrameError, FrameReader, put_frame};
use crate::session::{Keys, MESSAGE_BYTES_MAX, MessageReader, MessageWriter};
use proptest::prelude::*;

type Text = Vec<String>;

/// The injector's messages, and the keys to read them with: the controller's, and its own.
fn written(messages: &[Text]) -> (Vec<u8>, [Keys; 2]) {
    let (injectors, controllers) = keys_of_both_sides();
    let mut wire = Vec::new();
    let mut writer = MessageWriter::new(&mut wire, Keys::clone(&injectors));
    messages.iter().for_each(|message| writer.write(message).expect("a vector takes all"));
    (wire, [controllers, injectors])
}

/// Reads until something is wrong or the end is reached.
fn read_all(wire: &[u8], keys: &Keys) -> (Vec<Text>, FrameError) {
    let mut reader = MessageReader::new(FrameReader::new(wire), Keys::clone(keys));
    let mut messages = Vec::new();
    loop {
        match reader.read(&mut |_| true) {
            Ok(message) => messages.push(message),
            Err(error) => return (messages, error),
        }
    }
}

fn three() -> Vec<Text> {
    vec![
        vec!["first".to_owned()],
        // More than two frames.
        vec!["second".to_owned(), "x".repeat(150_000)],
        vec!["third".to_owned()],
    ]
}

/// The frames that bytes consist of, each with its length.
fn frames(mut wire: &[u8]) -> Vec<&[u8]> {
    let mut frames = Vec::new();
    while let Some(length) = wire.first_chunk() {
        let (frame, rest) = wire.split_at(2 + usize::from(u16::from_be_bytes(*length)));
        frames.push(frame);
        wire = rest;
    }
    frames
}

#[test]
fn what_was_written_is_read() {
    let (wire, [keys, _]) = written(&three());
    let (messages, end) = read_all(&wire, &keys);
    assert_eq!(messages, three());
    assert!(matches!(end, FrameError::Closed), "{end}");
}

#[test]
fn frames_that_are_repeated_left_out_exchanged_or_sent_back_are_refused() {
    let (wire, [keys, own]) = written(&three());
    let frames = frames(&wire);
    assert_eq!(frames.len(), 5, "one, three and one");
    let refused = |order: &[usize], read: usize| {
        let wire = order.iter().flat_map(|at| frames[*at]).copied().collect::<Vec<_>>();
        let (messages, error) = read_all(&wire, &keys);
        assert!(messages == three()[..read] && matches!(error, FrameError::Forged), "{order:?}: {error}");
    };
    refused(&[0, 0, 1, 2, 3, 4], 1);
    refused(&[1, 2, 3, 4], 0);
    refused(&[0, 1, 3, 4], 1);
    refused(&[0, 2, 1, 3, 4], 1);
    refused(&[0, 1, 2, 4], 1);
    let (messages, error) = read_all(&wire, &own);
    assert!(messages.is_empty() && matches!(error, FrameError::Forged), "{error}");
}

#[test]
fn a_message_beyond_the_bound_is_neither_written_nor_read() {
    let (injectors, controllers) = keys_of_both_sides();
    let mut wire = Vec::new();
    let long = "x".repeat(MESSAGE_BYTES_MAX - 1);
    let error =
        MessageWriter::new(&mut wire, Keys::clone(&injectors)).write(&long).expect_err("two quotes more");
    assert!(matches!(error, FrameError::TooLong { bytes_max: MESSAGE_BYTES_MAX, .. }), "{error}");
    assert!(wire.is_empty());
    // Full parts without an end.
    let part = [&[1], [b'x'; 65_535 - 17].as_slice()].concat();
    for number in 0..=(MESSAGE_BYTES_MAX / (part.len() - 1)) as u64 {
        let mut frame = vec![0; part.len() + 16];
        injectors.write_message(number, &part, &mut frame).expect("room for it");
        put_frame(&mut wire, &frame).expect("a frame");
    }
    let (_, error) = read_all(&wire, &controllers);
    assert!(matches!(error, FrameError::TooLong { bytes_max: MESSAGE_BYTES_MAX, .. }), "{error}");
}

#[test]
fn a_part_that_is_not_full_ends_its_message() {
    for part in [[1].as_slice(), &[1, b'"'], &[2, b'"', b'"'], &[]] {
        let (injectors, controllers) = keys_of_both_sides();
        let (mut wire, mut frame) = (Vec::new(), vec![0; part.len() + 16]);
        injectors.write_message(0, part, &mut frame).expect("room for it");
        put_frame(&mut wire, &frame).expect("a frame");
        let (_, error) = read_all(&wire, &controllers);
        assert!(matches!(error, FrameError::NotUnderstood(_)), "{part:?}: {error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_are_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let (messages, _) = read_all(&bytes, &keys_of_both_sides().0);
        prop_assert!(messages.is_empty());
    }

    #[test]
    fn one_changed_bit_is_noticed(at in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let (mut wire, [keys, _]) = written(&three());
        let at = at.index(wire.len());
        wire[at] ^= 1_u8 << bit;
        let (messages, error) = read_all(&wire, &keys);
        prop_assert!(messages.len() < 3 && !matches!(error, FrameError::Closed), "{error}");
    }

    #[test]
    fn a_cut_within_a_message_is_noticed(at in any::<prop::sample::Index>()) {
        let (wire, [keys, _]) = written(&three());
        let at = at.index(wire.len());
        let (messages, error) = read_all(&wire[..at], &keys);
        prop_assert!(messages.len() < 3);
        let frames = frames(&wire);
        let ends = [0, frames[0].len(), wire.len() - frames[4].len()];
        prop_assert_eq!(matches!(error, FrameError::Closed), ends.contains(&at), "{}", error);
    }
}
