//! Messages of a session: JSON in as many frames as it takes, each a transport message of Noise.
//!
//! A frame is encrypted and authenticated under the key of its direction and its number in it, so one that is changed,
//! left out, repeated, exchanged or sent back cannot be decrypted.

use crate::frame::{FRAME_BYTES_MAX, FrameError, FrameReader, put_frame, send};
use serde::Serialize;
use serde::de::DeserializeOwned;
use snow::StatelessTransportState;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

/// Longest message: a scenario of 4 MiB, each of its characters escaped.
pub(crate) const MESSAGE_BYTES_MAX: usize = 32 << 20;
/// What authenticates a frame.
pub(crate) const TAG_BYTES: usize = 16;
/// What is encrypted in one frame.
pub(crate) const PLAIN_BYTES_MAX: usize = FRAME_BYTES_MAX - TAG_BYTES;
/// What of a message fits into a frame, behind the byte that says whether more of it follows.
const PART_BYTES_MAX: usize = PLAIN_BYTES_MAX - 1;
/// First byte of the last frame of a message, and of those before it.
const LAST: u8 = 0;
const MORE: u8 = 1;

/// The keys of both directions; reader and writer share them.
pub(crate) type Keys = Arc<StatelessTransportState>;

/// Encrypts and writes messages.
pub(crate) struct MessageWriter<W> {
    sink: W,
    keys: Keys,
    /// Of the next frame.
    number: u64,
}

impl<W: Write> MessageWriter<W> {
    pub fn new(sink: W, keys: Keys) -> Self {
        MessageWriter { sink, keys, number: 0 }
    }

    pub fn write(&mut self, message: &impl Serialize) -> Result<(), FrameError> {
        let text = serde_json::to_vec(message).map_err(|e| FrameError::NotUnderstood(e.to_string()))?;
        if text.len() > MESSAGE_BYTES_MAX {
            return Err(FrameError::TooLong { bytes: text.len(), bytes_max: MESSAGE_BYTES_MAX });
        }
        let mut wire = Vec::with_capacity(text.len() + (text.len() / PART_BYTES_MAX + 1) * (3 + TAG_BYTES));
        let mut parts = text.chunks(PART_BYTES_MAX).peekable();
        while let Some(part) = parts.next() {
            let first = if parts.peek().is_some() { MORE } else { LAST };
            self.put(&[&[first], part].concat(), &mut wire)?;
        }
        send(&mut self.sink, &wire)
    }

    fn put(&mut self, plain: &[u8], wire: &mut Vec<u8>) -> Result<(), FrameError> {
        let mut frame = vec![0; plain.len() + TAG_BYTES];
        let bytes = self.keys.write_message(self.number, plain, &mut frame).map_err(io::Error::other)?;
        self.number += 1;
        put_frame(wire, &frame[..bytes])
    }
}

/// Reads and decrypts messages.
pub(crate) struct MessageReader<R> {
    frames: FrameReader<R>,
    keys: Keys,
    /// Of the next frame.
    number: u64,
}

impl<R: Read> MessageReader<R> {
    pub fn new(frames: FrameReader<R>, keys: Keys) -> Self {
        MessageReader { frames, keys, number: 0 }
    }

    /// The next message. `patience` gets the time for which nothing came, and ends the wait with `false`.
    pub fn read<M: DeserializeOwned>(
        &mut self,
        patience: &mut dyn FnMut(Duration) -> bool,
    ) -> Result<M, FrameError> {
        let text = self.read_text(patience)?;
        serde_json::from_slice(&text).map_err(|e| FrameError::NotUnderstood(e.to_string()))
    }

    fn read_text(&mut self, patience: &mut dyn FnMut(Duration) -> bool) -> Result<Vec<u8>, FrameError> {
        let mut text = Vec::new();
        loop {
            let frame = self.frames.read(FRAME_BYTES_MAX, text.is_empty(), patience)?;
            let mut plain = vec![0; frame.len()];
            let bytes = self.keys.read_message(self.number, &frame, &mut plain);
            plain.truncate(bytes.map_err(|_| FrameError::Forged)?);
            self.number += 1;
            let (first, part) = plain.split_first().unwrap_or((&LAST, &[]));
            let bytes = text.len() + part.len();
            if bytes > MESSAGE_BYTES_MAX {
                return Err(FrameError::TooLong { bytes, bytes_max: MESSAGE_BYTES_MAX });
            }
            text.extend_from_slice(part);
            match *first {
                LAST => return Ok(text),
                // A part that is not full would let a message of any number of frames stay within the bound.
                MORE if part.len() == PART_BYTES_MAX => (),
                _ => return Err(FrameError::NotUnderstood("it is divided otherwise".to_owned())),
            }
        }
    }
}
