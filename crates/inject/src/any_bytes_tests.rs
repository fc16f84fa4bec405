//! Any bytes as what comes over a connection: never a panic, and no message without the token. Built for the fuzz target
//! (`fuzz/fuzz_targets/inject_read.rs`), which invents bytes, and for tests, which run its seeds.

use crate::accept::{Expected, accepted};
use crate::frame::{FrameReader, put_frame};
use crate::greeting::{builder, introduce, receive};
use crate::message::{Order, Report};
use crate::session::{Keys, MessageReader, PLAIN_BYTES_MAX, TAG_BYTES};
use crate::token::Token;
use assay_load::{ArrivalLaw, Load, Measured};
use assay_model::OperationCount;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// The messages found in some bytes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Understood {
    /// Orders and reports.
    pub messages: usize,
    /// Of these, results of a window that a controller would use.
    pub results: usize,
}

/// Reads bytes as those of a pending peer, as those of an injector, as the frames of a session, and as messages of a peer that
/// knows the token: in one message, and in frames.
///
/// # Panics
/// A message came out of frames that nobody encrypted.
pub fn read_any_bytes(bytes: &[u8]) -> Understood {
    let token = Token::new("a token of the tests");
    assert!(receive(bytes, std::io::sink(), &token).is_err(), "a peer without the token");
    assert!(introduce(bytes, std::io::sink(), &token).is_err(), "an injector without the token");
    let (injectors, controllers) = keys_of_both_sides();
    assert!(read_all::<Report>(bytes, &controllers).is_empty(), "a message without a key");
    let whole = [&[0], bytes.get(..PLAIN_BYTES_MAX - 1).unwrap_or(bytes)].concat();
    let mut understood = Understood::default();
    for parts in [vec![whole.as_slice()], parts(bytes)] {
        let wire = encrypted(&injectors, &parts);
        understood.messages += read_all::<Order>(&wire, &controllers).len();
        let reports = read_all::<Report>(&wire, &controllers);
        understood.messages += reports.len();
        understood.results += reports.into_iter().filter_map(used).count();
    }
    understood
}

/// A report as a controller uses it, if it is a result of a window of a second.
fn used(report: Report) -> Option<Measured> {
    let Report::Result(result) = report else { return None };
    let operation = |name: &str| OperationCount::planned(name, 0.5);
    let operations = [operation("buy"), operation("sell")];
    let load = Load::Open { arrivals: ArrivalLaw::Constant, rate_per_s: 1.0 };
    let (settle_ns, length_ns) = (0, 1_000_000_000);
    let expected = Expected {
        load,
        seed: 1,
        settle_ns,
        length_ns,
        start_ns: 1,
        operations: &operations,
        limited_apart: 0,
    };
    accepted(result.measured, &expected).ok()
}

fn read_all<M: DeserializeOwned>(wire: &[u8], keys: &Keys) -> Vec<M> {
    let mut reader = MessageReader::new(FrameReader::new(wire), Keys::clone(keys));
    std::iter::from_fn(|| reader.read(&mut |_| true).ok()).collect()
}

/// Frames of these contents, one after the other.
fn encrypted(keys: &Keys, parts: &[&[u8]]) -> Vec<u8> {
    let mut wire = Vec::new();
    for (number, part) in (0..).zip(parts) {
        let mut frame = vec![0; part.len() + TAG_BYTES];
        keys.write_message(number, part, &mut frame).expect("a part is short enough");
        put_frame(&mut wire, &frame).expect("a part is short enough");
    }
    wire
}

/// Contents that are divided by lengths of two bytes.
fn parts(mut bytes: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk() {
        let length = usize::from(u16::from_be_bytes(*length)).min(rest.len()).min(PLAIN_BYTES_MAX);
        let (part, rest) = rest.split_at(length);
        parts.push(part);
        bytes = rest;
    }
    parts
}

/// Keys of a session between two sides in this process: those of the injector, and of the controller.
pub(crate) fn keys_of_both_sides() -> (Keys, Keys) {
    let mut message = [0; 128];
    let mut shake = || -> Result<(Keys, Keys), snow::Error> {
        let (mut injector, mut controller) =
            (builder(&[7; 32])?.build_responder()?, builder(&[7; 32])?.build_initiator()?);
        let bytes = controller.write_message(&[], &mut message)?;
        injector.read_message(&message[..bytes], &mut [0; 128])?;
        let bytes = injector.write_message(&[], &mut message)?;
        controller.read_message(&message[..bytes], &mut [0; 128])?;
        let keys = [injector, controller].map(|side| side.into_stateless_transport_mode().map(Arc::new));
        let [injectors, controllers] = keys;
        Ok((injectors?, controllers?))
    };
    shake().expect("a handshake of two that know the key")
}

#[cfg(test)]
mod seeds {
    use super::read_any_bytes;
    use assay_testkit::SplitMix;
    use std::fs;

    /// Names and contents.
    fn seeds() -> Vec<(String, Vec<u8>)> {
        let folder = assay_testkit::testdata("../fuzz/corpus/inject_read");
        let entries = fs::read_dir(folder).expect("the seeds").map(|entry| entry.expect("a seed"));
        let name = |entry: &fs::DirEntry| entry.file_name().into_string().expect("a name");
        entries.map(|entry| (name(&entry), fs::read(entry.path()).expect("the seed"))).collect()
    }

    #[test]
    fn seeds_of_the_fuzz_target_are_what_their_names_say() {
        let seeds = seeds();
        assert!(seeds.len() >= 16, "the seeds are there");
        for (name, bytes) in seeds {
            let understood = read_any_bytes(&bytes);
            let messages = match name.as_str() {
                "frames-two-messages" => 2,
                "frames-long-message" => 1,
                _ => usize::from(name.starts_with("message-")),
            };
            let wanted = (messages, usize::from(name == "message-result"));
            assert_eq!((understood.messages, understood.results), wanted, "{name}");
        }
    }

    #[test]
    fn damaged_seeds_are_read_without_panic() {
        let mut random = SplitMix(7);
        for (_, bytes) in seeds().iter().filter(|(_, bytes)| bytes.len() < 1_000) {
            for _ in 0..200 {
                let mut bytes = bytes.clone();
                for _ in 0..=random.bits() % 3 {
                    let at = random.bits() as usize % bytes.len();
                    match random.bits() % 3 {
                        0 => bytes[at] = random.bits() as u8,
                        1 => bytes.truncate(at + 1),
                        _ => bytes.insert(at, b"0{}[],\":-e9"[random.bits() as usize % 11]),
                    }
                }
                read_any_bytes(&bytes);
            }
        }
    }
}
