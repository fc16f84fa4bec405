//! Frames as they travel: a length of two bytes, big-endian, and so many bytes. Reads are bounded, and waited for
//! no longer than the reader has patience.

use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

/// Longest frame: what two bytes can say, and the longest message of Noise.
pub(crate) const FRAME_BYTES_MAX: usize = 65_535;
/// Of one wait for bytes, no more counts as the other side's silence: reads time out sooner, so a longer one says that
/// this side stood still (test `who_stood_still_does_not_take_the_other_for_silent`).
const WAIT_MAX: Duration = Duration::from_millis(250);

/// Why a frame, or the message in it, could not be read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FrameError {
    /// Between two messages.
    #[error("it closed the connection")]
    Closed,
    #[error("nothing came for {:.2} s", .0.as_secs_f64())]
    Silent(Duration),
    #[error("connection broken ({0})")]
    Broken(#[from] io::Error),
    #[error("a message of {bytes} bytes or more, at most {bytes_max} are allowed")]
    TooLong { bytes: usize, bytes_max: usize },
    #[error(
        "a message that cannot be decrypted: it was changed, repeated, or does not come from who knows the token"
    )]
    Forged,
    #[error("a message that is not understood ({0})")]
    NotUnderstood(String),
}

/// Appends a frame to what is to be sent. Longer ones than [`FRAME_BYTES_MAX`] are refused.
pub(crate) fn put_frame(wire: &mut Vec<u8>, frame: &[u8]) -> Result<(), FrameError> {
    let too_long = |_| FrameError::TooLong { bytes: frame.len(), bytes_max: FRAME_BYTES_MAX };
    wire.extend_from_slice(&u16::try_from(frame.len()).map_err(too_long)?.to_be_bytes());
    wire.extend_from_slice(frame);
    Ok(())
}

/// Sends what was put together in one call, so that nothing waits for another packet's acknowledgement.
pub(crate) fn send(sink: &mut impl Write, wire: &[u8]) -> Result<(), FrameError> {
    sink.write_all(wire)?;
    Ok(sink.flush()?)
}

/// Reads frames. The source's reads should time out now and then, so that `patience` is asked.
pub(crate) struct FrameReader<R> {
    source: R,
    /// How long nothing came while it was waited for.
    silence: Duration,
}

impl<R: Read> FrameReader<R> {
    pub fn new(source: R) -> Self {
        FrameReader { source, silence: Duration::ZERO }
    }

    /// The next frame. `patience` gets the time for which nothing came, and ends the wait with `false`. The other side
    /// may close the connection before the frame if `may_close`.
    pub fn read(
        &mut self,
        bytes_max: usize,
        may_close: bool,
        patience: &mut dyn FnMut(Duration) -> bool,
    ) -> Result<Vec<u8>, FrameError> {
        let mut length = [0; 2];
        self.fill(&mut length, may_close, patience)?;
        let bytes = usize::from(u16::from_be_bytes(length));
        if bytes > bytes_max {
            return Err(FrameError::TooLong { bytes, bytes_max });
        }
        let mut frame = vec![0; bytes];
        self.fill(&mut frame, false, patience)?;
        Ok(frame)
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

    #[test]
    fn what_was_put_is_read_and_what_is_too_long_is_refused() {
        let mut wire = Vec::new();
        for frame in [b"first".as_slice(), b"", &[7; FRAME_BYTES_MAX]] {
            put_frame(&mut wire, frame).expect("short enough");
        }
        assert!(matches!(put_frame(&mut wire, &[0; FRAME_BYTES_MAX + 1]), Err(FrameError::TooLong { .. })));
        let mut reader = FrameReader::new(wire.as_slice());
        let mut next = |bytes_max| reader.read(bytes_max, true, &mut |_| true);
        assert_eq!(next(5).expect("five bytes"), b"first");
        assert_eq!(next(0).expect("no bytes"), b"");
        let error = next(FRAME_BYTES_MAX - 1).expect_err("a byte too long");
        assert!(matches!(error, FrameError::TooLong { bytes: FRAME_BYTES_MAX, .. }), "{error}");
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
        let result = FrameReader::new(Silence).read(FRAME_BYTES_MAX, true, &mut |_| {
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
        let result = FrameReader::new(Standstill).read(FRAME_BYTES_MAX, true, &mut |silence| {
            heard.push(silence);
            heard.len() < 3
        });
        assert!(matches!(result, Err(FrameError::Silent(silence)) if silence == 3 * WAIT_MAX), "{heard:?}");
        assert_eq!(heard, [WAIT_MAX, 2 * WAIT_MAX, 3 * WAIT_MAX]);
    }
}
