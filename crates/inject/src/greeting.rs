//! The greeting: both sides prove that they know the token, without sending it, and agree on the key of the session.

use crate::frame::{FrameError, FrameReader, FrameWriter, Seal, Side};
use crate::message::{Hello, PROTOCOL, Proof, Welcome, bytes_of, text_of};
use crate::token::{CODE_BYTES, Code, Token, nonce};
use std::io::{Read, Write};
use std::time::{Duration, Instant};

/// Longest time of a greeting; a slow or silent visitor is dismissed then.
pub(crate) const GREETING_MAX: Duration = Duration::from_secs(5);

/// Why there is no session.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GreetingError {
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error("it speaks {theirs:?} and this is {PROTOCOL:?}; use the same release of Assay on all hosts")]
    Protocol { theirs: String },
    #[error("it does not know the token")]
    WrongToken,
    #[error("it closed the connection: the token files differ, or it has too many visitors")]
    Dismissed,
    #[error("the kernel gives no random bytes ({0})")]
    Random(#[from] std::io::Error),
}

/// The injector's side.
pub(crate) fn receive<R: Read, W: Write>(
    reader: &mut FrameReader<R>,
    writer: &mut FrameWriter<W>,
    token: &Token,
) -> Result<(), GreetingError> {
    let (own, mut patience) = (nonce()?, until(Instant::now() + GREETING_MAX));
    writer.write(&Hello { protocol: PROTOCOL.to_owned(), nonce: text_of(&own) })?;
    let proof: Proof = reader.read(&mut patience)?;
    let theirs = code_of(&proof.nonce)?;
    let nonces: [&[u8]; 2] = [&own, &theirs];
    if !token.verify(&said("controller", nonces), &code_of(&proof.code)?) {
        return Err(GreetingError::WrongToken);
    }
    writer.write(&Welcome { code: text_of(&token.code(&said("injector", nonces))) })?;
    let key = token.code(&said("session", nonces));
    reader.seal_with(Seal::new(key, Side::Controller));
    writer.seal_with(Seal::new(key, Side::Injector));
    Ok(())
}

/// The controller's side.
pub(crate) fn introduce<R: Read, W: Write>(
    reader: &mut FrameReader<R>,
    writer: &mut FrameWriter<W>,
    token: &Token,
) -> Result<(), GreetingError> {
    let (own, mut patience) = (nonce()?, until(Instant::now() + GREETING_MAX));
    let hello: Hello = reader.read(&mut patience)?;
    if hello.protocol != PROTOCOL {
        return Err(GreetingError::Protocol { theirs: hello.protocol.chars().take(40).collect() });
    }
    let theirs = code_of(&hello.nonce)?;
    let nonces: [&[u8]; 2] = [&theirs, &own];
    writer.write(&Proof { nonce: text_of(&own), code: text_of(&token.code(&said("controller", nonces))) })?;
    let welcome: Welcome = reader.read(&mut patience).map_err(|error| match error {
        FrameError::Closed | FrameError::Broken(_) => GreetingError::Dismissed,
        other => other.into(),
    })?;
    if !token.verify(&said("injector", nonces), &code_of(&welcome.code)?) {
        return Err(GreetingError::WrongToken);
    }
    let key = token.code(&said("session", nonces));
    reader.seal_with(Seal::new(key, Side::Injector));
    writer.seal_with(Seal::new(key, Side::Controller));
    Ok(())
}

/// What a code is made of: the role keeps the proof of one side from being the proof of the other.
fn said<'a>(role: &'a str, nonces: [&'a [u8]; 2]) -> [&'a [u8]; 4] {
    [PROTOCOL.as_bytes(), role.as_bytes(), nonces[0], nonces[1]]
}

fn code_of(text: &str) -> Result<Code, FrameError> {
    let bytes = bytes_of(text)?;
    let wrong = || FrameError::NotUnderstood(format!("{} bytes instead of {CODE_BYTES}", bytes.len()));
    bytes.as_slice().try_into().map_err(|_| wrong())
}

fn until(end: Instant) -> impl FnMut(Duration) -> bool {
    move |_| Instant::now() < end
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    type Ends = (FrameReader<UnixStream>, FrameWriter<UnixStream>);

    fn ends() -> (Ends, Ends) {
        let (one, other) = UnixStream::pair().expect("sockets");
        let end = |stream: UnixStream| {
            let writer = FrameWriter::new(stream.try_clone().expect("a descriptor"));
            (FrameReader::new(stream), writer)
        };
        (end(one), end(other))
    }

    /// What both sides come to, and whether a sealed message then goes both ways.
    fn greet(injectors: &'static str, controllers: &'static str) -> (Result<(), String>, Result<(), String>) {
        let ((mut reader, mut writer), (mut their_reader, mut their_writer)) = ends();
        let injector = std::thread::spawn(move || {
            receive(&mut reader, &mut writer, &Token::new(injectors)).map_err(|e| e.to_string())?;
            writer.write(&"from the injector").map_err(|e| e.to_string())?;
            let text: String = reader.read(&mut |_| true).map_err(|e| e.to_string())?;
            assert_eq!(text, "from the controller");
            Ok(())
        });
        let controller = (|| {
            introduce(&mut their_reader, &mut their_writer, &Token::new(controllers))
                .map_err(|e| e.to_string())?;
            their_writer.write(&"from the controller").map_err(|e| e.to_string())?;
            let text: String = their_reader.read(&mut |_| true).map_err(|e| e.to_string())?;
            assert_eq!(text, "from the injector");
            Ok(())
        })();
        (injector.join().expect("no panic"), controller)
    }

    #[test]
    fn who_shares_the_token_is_let_in() {
        assert_eq!(greet("0123456789abcdef", "0123456789abcdef"), (Ok(()), Ok(())));
    }

    #[test]
    fn who_does_not_know_the_token_gets_nothing_but_a_nonce() {
        let (injector, controller) = greet("0123456789abcdef", "0123456789abcdeF");
        assert_eq!(injector, Err("it does not know the token".to_owned()));
        assert!(controller.is_err_and(|why| why.contains("the token files differ")));
    }

    #[test]
    fn a_false_injector_is_found_out() {
        let ((mut reader, mut writer), (mut their_reader, mut their_writer)) = ends();
        let false_one = std::thread::spawn(move || {
            let hello = Hello { protocol: PROTOCOL.to_owned(), nonce: text_of(&[1; 32]) };
            writer.write(&hello).expect("a reader");
            let proof: Proof = reader.read(&mut |_| true).expect("a proof");
            // It has nothing better to answer than what it was told.
            writer.write(&Welcome { code: proof.code }).expect("a reader");
        });
        let result = introduce(&mut their_reader, &mut their_writer, &Token::new("0123456789abcdef"));
        assert!(matches!(result, Err(GreetingError::WrongToken)), "{result:?}");
        false_one.join().expect("no panic");
    }

    #[test]
    fn another_protocol_is_named() {
        let ((_, mut writer), (mut reader, mut their_writer)) = ends();
        let hello = Hello { protocol: "assay-inject/99".to_owned(), nonce: text_of(&[1; 32]) };
        writer.write(&hello).expect("a reader");
        let result = introduce(&mut reader, &mut their_writer, &Token::new("0123456789abcdef"));
        assert!(result.is_err_and(|e| e.to_string().contains("assay-inject/99")));
    }
}
