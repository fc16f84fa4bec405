//! The greeting: a handshake of the Noise protocol, in which both sides prove that they know the token, without sending
//! it, and agree on keys that nobody can compute who only listened, also who learns the token later.

use crate::frame::{FrameError, FrameReader, put_frame, send};
use crate::message::PROTOCOL;
use crate::session::{MessageReader, MessageWriter};
use crate::token::Token;
use snow::{Builder, HandshakeState};
use std::io::{Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Longest time of a greeting; a slow or silent visitor is dismissed then.
pub(crate) const GREETING_MAX: Duration = Duration::from_secs(5);
/// Longest frame of a greeting: a public key and a tag are 48 bytes.
const GREETING_BYTES_MAX: usize = 128;
/// Ephemeral keys on both sides, and the key made of the token mixed in before all else: who does not know it can neither
/// read nor answer the first message. It leaves no more than the token to guess to who pretends to be an injector.
const NOISE: &str = "Noise_NNpsk0_25519_ChaChaPoly_SHA256";

/// Why there is no session.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GreetingError {
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error("it speaks {theirs:?} and this is {PROTOCOL:?}; use the same release of Assay on all hosts")]
    Protocol { theirs: String },
    #[error("it does not know the token")]
    WrongToken,
    #[error("it does not accept this token: the token files differ")]
    Refused,
    #[error("it closed the connection; has it too many visitors?")]
    Dismissed,
    #[error("no handshake can be made ({0})")]
    Handshake(#[from] snow::Error),
}

/// Both ends of a session.
pub(crate) type Ends<R, W> = (MessageReader<R>, MessageWriter<W>);

/// The injector's side.
pub(crate) fn receive<R: Read, W: Write>(
    source: R,
    mut sink: W,
    token: &Token,
) -> Result<Ends<R, W>, GreetingError> {
    let (mut frames, mut patience) = (FrameReader::new(source), until(Instant::now() + GREETING_MAX));
    send_frame(&mut sink, PROTOCOL.as_bytes())?;
    let mut noise = builder(&token.key())?.build_responder()?;
    let first = frames.read(GREETING_BYTES_MAX, true, &mut patience)?;
    if noise.read_message(&first, &mut [0; GREETING_BYTES_MAX]).is_err() {
        // Tells the other side why; whether it hears that changes nothing.
        let _ = send_frame(&mut sink, &[]);
        return Err(GreetingError::WrongToken);
    }
    send_frame(&mut sink, &next(&mut noise)?)?;
    let mut ends = session(noise, frames, sink)?;
    // The first message may be one that was recorded and is repeated: only who made it has the keys now.
    match ends.0.read::<String>(&mut patience) {
        Ok(_) => Ok(ends),
        Err(FrameError::Forged) => Err(GreetingError::WrongToken),
        Err(error) => Err(error.into()),
    }
}

/// The controller's side.
pub(crate) fn introduce<R: Read, W: Write>(
    source: R,
    mut sink: W,
    token: &Token,
) -> Result<Ends<R, W>, GreetingError> {
    let (mut frames, mut patience) = (FrameReader::new(source), until(Instant::now() + GREETING_MAX));
    let mut read = |frames: &mut FrameReader<R>| {
        frames.read(GREETING_BYTES_MAX, true, &mut patience).map_err(|error| match error {
            FrameError::Closed | FrameError::Broken(_) => GreetingError::Dismissed,
            other => other.into(),
        })
    };
    let hello = read(&mut frames)?;
    if hello != PROTOCOL.as_bytes() {
        let theirs = String::from_utf8_lossy(&hello).chars().take(40).collect();
        return Err(GreetingError::Protocol { theirs });
    }
    let mut noise = builder(&token.key())?.build_initiator()?;
    send_frame(&mut sink, &next(&mut noise)?)?;
    let answer = read(&mut frames)?;
    if answer.is_empty() {
        return Err(GreetingError::Refused);
    }
    noise.read_message(&answer, &mut [0; GREETING_BYTES_MAX]).map_err(|_| GreetingError::WrongToken)?;
    let mut ends = session(noise, frames, sink)?;
    ends.1.write(&PROTOCOL)?;
    Ok(ends)
}

/// A handshake of this protocol under a key.
pub(crate) fn builder(key: &[u8; 32]) -> Result<Builder<'_>, snow::Error> {
    Builder::new(NOISE.parse()?).psk(0, key)?.prologue(PROTOCOL.as_bytes())
}

/// The next message of the handshake; it carries nothing but what the handshake needs.
fn next(noise: &mut HandshakeState) -> Result<Vec<u8>, snow::Error> {
    let mut message = vec![0; GREETING_BYTES_MAX];
    let bytes = noise.write_message(&[], &mut message)?;
    message.truncate(bytes);
    Ok(message)
}

fn send_frame(sink: &mut impl Write, frame: &[u8]) -> Result<(), FrameError> {
    let mut wire = Vec::new();
    put_frame(&mut wire, frame)?;
    send(sink, &wire)
}

fn session<R: Read, W: Write>(
    noise: HandshakeState,
    frames: FrameReader<R>,
    sink: W,
) -> Result<Ends<R, W>, snow::Error> {
    let keys = Arc::new(noise.into_stateless_transport_mode()?);
    Ok((MessageReader::new(frames, Arc::clone(&keys)), MessageWriter::new(sink, keys)))
}

fn until(end: Instant) -> impl FnMut(Duration) -> bool {
    move |_| Instant::now() < end
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;
    use std::sync::Mutex;

    const TOKEN: &str = "0123456789abcdef";

    /// Both ends of a connection, each as what is read from and what is written to.
    fn ends() -> [(UnixStream, UnixStream); 2] {
        let (one, other) = UnixStream::pair().expect("sockets");
        [one, other].map(|stream| (stream.try_clone().expect("a descriptor"), stream))
    }

    /// What both sides come to, and whether a message then goes both ways.
    fn greet(injectors: &'static str, controllers: &'static str) -> (Result<(), String>, Result<(), String>) {
        let [(source, sink), (their_source, their_sink)] = ends();
        let injector = std::thread::spawn(move || {
            let (mut reader, mut writer) =
                receive(source, sink, &Token::new(injectors)).map_err(|e| e.to_string())?;
            writer.write(&"from the injector").map_err(|e| e.to_string())?;
            let text: String = reader.read(&mut |_| true).map_err(|e| e.to_string())?;
            assert_eq!(text, "from the controller");
            Ok(())
        });
        let controller = (|| {
            let (mut reader, mut writer) =
                introduce(their_source, their_sink, &Token::new(controllers)).map_err(|e| e.to_string())?;
            writer.write(&"from the controller").map_err(|e| e.to_string())?;
            let text: String = reader.read(&mut |_| true).map_err(|e| e.to_string())?;
            assert_eq!(text, "from the injector");
            Ok(())
        })();
        (injector.join().expect("no panic"), controller)
    }

    #[test]
    fn who_shares_the_token_is_let_in() {
        assert_eq!(greet(TOKEN, TOKEN), (Ok(()), Ok(())));
    }

    #[test]
    fn a_wrong_token_is_told_on_both_sides() {
        let (injector, controller) = greet(TOKEN, "0123456789abcdeF");
        assert_eq!(injector, Err("it does not know the token".to_owned()));
        assert_eq!(controller, Err("it does not accept this token: the token files differ".to_owned()));
    }

    /// Keeps what goes through it.
    struct Recording<'a>(UnixStream, &'a Mutex<Vec<u8>>);

    impl Write for Recording<'_> {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let count = self.0.write(bytes)?;
            self.1.lock().expect("no panic").extend_from_slice(&bytes[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            self.0.flush()
        }
    }

    /// What both sides of a good session with one message of the controller sent: the injector's bytes, the controller's.
    fn recorded() -> (Vec<u8>, Vec<u8>) {
        let (injectors, controllers) = (Mutex::default(), Mutex::default());
        let [(source, sink), (their_source, their_sink)] = ends();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let sink = Recording(sink, &injectors);
                let (mut reader, mut writer) =
                    receive(source, sink, &Token::new(TOKEN)).expect("the right token");
                writer.write(&"known to two").expect("a reader");
                assert_eq!(reader.read::<String>(&mut |_| true).expect("a message"), "known to two");
            });
            let sink = Recording(their_sink, &controllers);
            let (mut reader, mut writer) =
                introduce(their_source, sink, &Token::new(TOKEN)).expect("the right token");
            writer.write(&"known to two").expect("a reader");
            assert_eq!(reader.read::<String>(&mut |_| true).expect("a message"), "known to two");
        });
        let all = |bytes: Mutex<Vec<u8>>| bytes.into_inner().expect("no panic");
        (all(injectors), all(controllers))
    }

    #[test]
    fn who_listens_reads_neither_token_nor_messages() {
        let (injectors, controllers) = recorded();
        for wire in [injectors, controllers] {
            let has = |text: &str| wire.windows(text.len()).any(|bytes| bytes == text.as_bytes());
            assert!(!has(TOKEN) && !has("known") && !has("two"), "{wire:?}");
        }
    }

    #[test]
    fn who_repeats_what_another_sent_is_let_in_by_neither_side() {
        let (injectors, controllers) = recorded();
        let (mut answer, token) = (Vec::new(), Token::new(TOKEN));
        let result = receive(controllers.as_slice(), &mut answer, &token).map(|_| ());
        assert!(matches!(result, Err(GreetingError::WrongToken)), "{result:?}");
        let result = introduce(injectors.as_slice(), &mut answer, &token).map(|_| ());
        assert!(matches!(result, Err(GreetingError::WrongToken)), "{result:?}");
    }

    #[test]
    fn a_false_injector_is_found_out() {
        let [(source, mut sink), (their_source, their_sink)] = ends();
        let false_one = std::thread::spawn(move || {
            send_frame(&mut sink, PROTOCOL.as_bytes()).expect("a reader");
            let first = FrameReader::new(source).read(GREETING_BYTES_MAX, true, &mut |_| true);
            // It can only answer with the bytes that it got.
            send_frame(&mut sink, &first.expect("a handshake")).expect("a reader");
        });
        let result = introduce(their_source, their_sink, &Token::new(TOKEN)).map(|_| ());
        assert!(matches!(result, Err(GreetingError::WrongToken)), "{result:?}");
        false_one.join().expect("no panic");
    }

    #[test]
    fn another_protocol_is_named() {
        let mut hello = Vec::new();
        put_frame(&mut hello, b"assay-inject/99").expect("short");
        let result = introduce(hello.as_slice(), std::io::sink(), &Token::new(TOKEN)).map(|_| ());
        assert!(result.is_err_and(|e| e.to_string().contains("assay-inject/99")));
        // Protocol 1 began with a length of four bytes.
        let old = [0, 0, 0, 0x20, b'{'];
        let result = introduce(old.as_slice(), std::io::sink(), &Token::new(TOKEN)).map(|_| ());
        assert!(result.is_err_and(|e| e.to_string().contains("use the same release of Assay")));
    }

    #[test]
    fn who_has_no_room_for_visitors_is_understood() {
        let result = introduce([].as_slice(), std::io::sink(), &Token::new(TOKEN)).map(|_| ());
        assert!(matches!(result, Err(GreetingError::Dismissed)), "{result:?}");
    }
}
