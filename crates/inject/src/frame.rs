//! Frames on a connection: length, seal, message. What is read is bounded and takes memory only as it arrives.

use crate::token::{CODE_BYTES, Code, Token};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

/// Longest message before the other side has proved that it knows the token.
pub(crate) const GREETING_BYTES_MAX: usize = 4 << 10;
/// Longest message after it: a scenario of 4 MiB, each of its characters escaped.
pub(crate) const MESSAGE_BYTES_MAX: usize = 32 << 20;
const CHUNK_BYTES: usize = 64 << 10;
/// Of one wait for bytes, no more counts as the other side's silence: reads time out sooner, so a longer one says that
/// this side stood still (test `who_stood_still_does_not_take_the_other_for_silent`).
const WAIT_MAX: Duration = Duration::from_millis(250);

/// Why a frame could not be read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FrameError {
    /// Between two frames.
    #[error("it closed the connection")]
    Closed,
    #[error("nothing came for {:.2} s", .0.as_secs_f64())]
    Silent(Duration),
    #[error("connection broken ({0})")]
    Broken(#[from] io::Error),
    #[error("a message of {bytes} bytes, at most {bytes_max} are allowed")]
    TooLong { bytes: usize, bytes_max: usize },
    #[error("a message with a wrong seal: it does not come from who knows the token")]
    Forged,
    #[error("a message that is not understood ({0})")]
    NotUnderstood(String),
}

/// Who sends; a frame that is sent back to its sender has a wrong seal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Injector,
    Controller,
}

/// Seals the frames of one direction. Each has a number, so that none can be left out, repeated or exchanged.
pub(crate) struct Seal {
    key: Token,
    from: Side,
    number: u64,
}

impl Seal {
    /// `key` is that of the session.
    pub fn new(key: Code, from: Side) -> Seal {
        Seal { key: Token::new(key), from, number: 0 }
    }

    fn next(&mut self) -> ([u8; 1], [u8; 8]) {
        self.number += 1;
        ([self.from as u8], self.number.to_be_bytes())
    }

    fn code(&mut self, message: &[u8]) -> Code {
        let (from, number) = self.next();
        self.key.code(&[&from, &number, message])
    }

    fn verify(&mut self, message: &[u8], code: &[u8]) -> bool {
        let (from, number) = self.next();
        self.key.verify(&[&from, &number, message], code)
    }
}

/// Writes frames; each with one call, so that none waits for another packet's acknowledgement.
pub(crate) struct FrameWriter<W> {
    sink: W,
    seal: Option<Seal>,
}

impl<W: Write> FrameWriter<W> {
    pub fn new(sink: W) -> Self {
        FrameWriter { sink, seal: None }
    }

    /// Seals what is written from now on.
    pub fn seal_with(&mut self, seal: Seal) {
        self.seal = Some(seal);
    }

    pub fn write(&mut self, message: &impl Serialize) -> Result<(), FrameError> {
        let text = serde_json::to_vec(message).map_err(|e| FrameError::NotUnderstood(e.to_string()))?;
        let bytes_max = if self.seal.is_some() { MESSAGE_BYTES_MAX } else { GREETING_BYTES_MAX };
        if text.len() > bytes_max {
            return Err(FrameError::TooLong { bytes: text.len(), bytes_max });
        }
        let mut frame = Vec::with_capacity(4 + CODE_BYTES + text.len());
        frame.extend_from_slice(&(text.len() as u32).to_be_bytes());
        if let Some(seal) = &mut self.seal {
            frame.extend_from_slice(&seal.code(&text));
        }
        frame.extend_from_slice(&text);
        self.sink.write_all(&frame)?;
        Ok(self.sink.flush()?)
    }
}

/// Reads frames. The source's reads should time out now and then, so that `patience` is asked.
pub(crate) struct FrameReader<R> {
    source: R,
    seal: Option<Seal>,
    /// How long nothing came while it was waited for.
    silence: Duration,
}

impl<R: Read> FrameReader<R> {
    pub fn new(source: R) -> Self {
        FrameReader { source, seal: None, silence: Duration::ZERO }
    }

    /// Demands seals on what is read from now on.
    pub fn seal_with(&mut self, seal: Seal) {
        self.seal = Some(seal);
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
        let mut length = [0; 4];
        self.fill(&mut length, true, patience)?;
        let bytes = u32::from_be_bytes(length) as usize;
        let bytes_max = if self.seal.is_some() { MESSAGE_BYTES_MAX } else { GREETING_BYTES_MAX };
        if bytes > bytes_max {
            return Err(FrameError::TooLong { bytes, bytes_max });
        }
        let mut code = [0; CODE_BYTES];
        if self.seal.is_some() {
            self.fill(&mut code, false, patience)?;
        }
        let mut text = Vec::new();
        while text.len() < bytes {
            let begin = text.len();
            text.resize(begin + (bytes - begin).min(CHUNK_BYTES), 0);
            self.fill(&mut text[begin..], false, patience)?;
        }
        let is_sealed = self.seal.as_mut().is_none_or(|seal| seal.verify(&text, &code));
        if is_sealed { Ok(text) } else { Err(FrameError::Forged) }
    }

    /// Like `read_exact`, but keeps what came before a time-out.
    fn fill(
        &mut self,
        buffer: &mut [u8],
        may_close: bool,
        patience: &mut dyn FnMut(Duration) -> bool,
    ) -> Result<(), FrameError> {
        let mut filled = 0;
        while filled < buffer.len() {
            let began = Instant::now();
            match self.source.read(&mut buffer[filled..]) {
                Ok(0) if may_close && filled == 0 => return Err(FrameError::Closed),
                Ok(0) => return Err(FrameError::Broken(io::ErrorKind::UnexpectedEof.into())),
                Ok(count) => {
                    filled += count;
                    self.silence = Duration::ZERO;
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted => {
                        self.silence += began.elapsed().min(WAIT_MAX);
                    }
                    _ => return Err(error.into()),
                },
            }
            if filled < buffer.len() && !patience(self.silence) {
                return Err(FrameError::Silent(self.silence));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Text = Vec<String>;

    fn sealed(messages: &[Text]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = FrameWriter::new(&mut bytes);
        writer.seal_with(Seal::new([7; 32], Side::Injector));
        messages.iter().for_each(|message| writer.write(message).expect("a vector takes all"));
        bytes
    }

    /// Reads until something is wrong or the end is reached.
    fn read_all(bytes: &[u8], from: Side) -> (Vec<Text>, FrameError) {
        let mut reader = FrameReader::new(bytes);
        reader.seal_with(Seal::new([7; 32], from));
        let mut messages = Vec::new();
        loop {
            match reader.read(&mut |_| true) {
                Ok(message) => messages.push(message),
                Err(error) => return (messages, error),
            }
        }
    }

    fn two() -> Vec<Text> {
        vec![vec!["first".to_owned()], vec!["second".to_owned(), String::new()]]
    }

    #[test]
    fn what_was_written_is_read() {
        let (messages, end) = read_all(&sealed(&two()), Side::Injector);
        assert_eq!(messages, two());
        assert!(matches!(end, FrameError::Closed));
    }

    #[test]
    fn a_frame_that_is_repeated_left_out_or_sent_back_is_told() {
        let bytes = sealed(&two());
        let first = 4 + 32 + r#"["first"]"#.len();
        let repeated = [&bytes[..first], &bytes[..first]].concat();
        assert!(matches!(read_all(&repeated, Side::Injector), (m, FrameError::Forged) if m.len() == 1));
        assert!(matches!(read_all(&bytes[first..], Side::Injector), (m, FrameError::Forged) if m.is_empty()));
        assert!(matches!(read_all(&bytes, Side::Controller), (m, FrameError::Forged) if m.is_empty()));
    }

    #[test]
    fn a_length_takes_no_memory_before_its_bytes_come_and_has_a_bound() {
        let mut reader = FrameReader::new([0xff; 4].as_slice());
        let error = reader.read::<Text>(&mut |_| true).expect_err("4 GiB are refused");
        assert!(matches!(error, FrameError::TooLong { bytes_max: GREETING_BYTES_MAX, .. }), "{error}");
        let mut reader = FrameReader::new([0x02, 0, 0, 1].as_slice());
        reader.seal_with(Seal::new([7; 32], Side::Injector));
        let error = reader.read::<Text>(&mut |_| true).expect_err("32 MiB and a byte are refused");
        assert!(matches!(error, FrameError::TooLong { bytes_max: MESSAGE_BYTES_MAX, .. }), "{error}");
    }

    /// A source that has nothing to say.
    struct Silence;

    impl Read for Silence {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::WouldBlock.into())
        }
    }

    #[test]
    fn silence_ends_when_patience_does() {
        let mut asked = 0;
        let result = FrameReader::new(Silence).read::<Text>(&mut |_| {
            asked += 1;
            asked < 5
        });
        assert!(matches!(result, Err(FrameError::Silent(_))));
        assert_eq!(asked, 5);
    }

    /// A source whose reads end long after their time-out.
    struct Standstill;

    impl Read for Standstill {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            std::thread::sleep(2 * WAIT_MAX);
            Err(io::ErrorKind::WouldBlock.into())
        }
    }

    #[test]
    fn who_stood_still_does_not_take_the_other_for_silent() {
        let mut heard = Vec::new();
        let result = FrameReader::new(Standstill).read::<Text>(&mut |silence| {
            heard.push(silence);
            heard.len() < 3
        });
        assert!(matches!(result, Err(FrameError::Silent(silence)) if silence == 3 * WAIT_MAX), "{heard:?}");
        assert_eq!(heard, [WAIT_MAX, 2 * WAIT_MAX, 3 * WAIT_MAX]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_messages_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            read_all(&bytes, Side::Injector);
            let mut reader = FrameReader::new(bytes.as_slice());
            while reader.read::<Text>(&mut |_| true).is_ok() {}
        }

        #[test]
        fn one_changed_bit_is_noticed(at in 0..sealed(&two()).len(), bit in 0..8_u8) {
            let mut bytes = sealed(&two());
            bytes[at] ^= 1_u8 << bit;
            let (messages, error) = read_all(&bytes, Side::Injector);
            prop_assert!(messages.len() < 2 && !matches!(error, FrameError::Closed), "{error}");
        }

        #[test]
        fn a_cut_is_noticed(at in 0..sealed(&two()).len()) {
            let (messages, error) = read_all(&sealed(&two())[..at], Side::Injector);
            prop_assert!(messages.len() < 2);
            prop_assert!(matches!(error, FrameError::Broken(_)) || at == 0 || messages.len() == 1);
        }
    }
}
