//! The secret that controller and injectors share, and what is computed with it.

use assay_load::LoadError;
use hmac::{Hmac, KeyInit, Mac};
use rustix::fs::{Mode, OFlags};
use sha2::Sha256;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Fewest characters of a token; 16 random ones cannot be tried out.
const TOKEN_BYTES_MIN: usize = 16;
const TOKEN_BYTES_MAX: u64 = 4096;
/// Bytes of a nonce, a proof and a seal.
pub(crate) const CODE_BYTES: usize = 32;

/// A code of HMAC-SHA-256, or a nonce.
pub(crate) type Code = [u8; CODE_BYTES];

/// A secret. It is never shown and never sent.
#[derive(Clone)]
pub struct Token(Vec<u8>);

impl fmt::Debug for Token {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Token")
    }
}

impl Token {
    /// Reads the first line of a file that only its owner, the user of this process, can read.
    ///
    /// # Errors
    /// The file cannot be read, others may read it, or the secret is too short to be one.
    pub fn read(path: &Path) -> Result<Token, LoadError> {
        read(path).map(Token).map_err(|cause| LoadError::Token { path: path.display().to_string(), cause })
    }

    /// A token from its bytes, for those who keep it elsewhere than in a file.
    pub fn new(secret: impl Into<Vec<u8>>) -> Token {
        Token(secret.into())
    }

    /// The code of these texts under this token.
    pub(crate) fn code(&self, parts: &[&[u8]]) -> Code {
        code_maker(&self.0, parts).finalize().into_bytes().into()
    }

    /// Whether `code` is that of these texts, in a time that does not tell how much of it is right.
    pub(crate) fn verify(&self, parts: &[&[u8]], code: &[u8]) -> bool {
        code_maker(&self.0, parts).verify_slice(code).is_ok()
    }
}

/// The parts are told apart by their lengths, which go in too.
fn code_maker(key: &[u8], parts: &[&[u8]]) -> Hmac<Sha256> {
    let mut maker = match Hmac::<Sha256>::new_from_slice(key) {
        Ok(maker) => maker,
        Err(never) => unreachable!("HMAC takes keys of every length: {never}"),
    };
    for part in parts {
        maker.update(&(part.len() as u64).to_be_bytes());
        maker.update(part);
    }
    maker
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let why = |error: &dyn fmt::Display| error.to_string();
    // Without waiting, should it be a pipe; its kind is checked on what was opened, so that it cannot be exchanged.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = rustix::fs::open(path, flags, Mode::empty()).map_err(|e| why(&io::Error::from(e)))?;
    let file = File::from(file);
    let facts = file.metadata().map_err(|e| why(&e))?;
    if !facts.is_file() {
        return Err("it is no file".to_owned());
    }
    if facts.uid() != rustix::process::geteuid().as_raw() {
        return Err("it belongs to another user".to_owned());
    }
    let mode = facts.mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(format!("others may use it (mode {mode:03o}); chmod 600 makes it private"));
    }
    let mut text = Vec::new();
    file.take(TOKEN_BYTES_MAX + 1).read_to_end(&mut text).map_err(|e| why(&e))?;
    if text.len() as u64 > TOKEN_BYTES_MAX {
        return Err(format!("it is longer than {TOKEN_BYTES_MAX} bytes"));
    }
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let secret = line.trim_ascii();
    if secret.len() < TOKEN_BYTES_MIN {
        return Err(format!("its first line is shorter than {TOKEN_BYTES_MIN} characters"));
    }
    Ok(secret.to_vec())
}

/// Random bytes of the kernel. Not from the seed: a nonce must not repeat.
pub(crate) fn nonce() -> io::Result<Code> {
    let mut nonce = [0; CODE_BYTES];
    let got = rustix::rand::getrandom(&mut nonce, rustix::rand::GetRandomFlags::empty())?;
    // The kernel gives up to 256 bytes whole (getrandom(2)).
    if got == CODE_BYTES { Ok(nonce) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[track_caller]
    fn check(content: &str, mode: u32, want: Result<&str, &str>) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("token");
        std::fs::write(&path, content).expect("a writable file");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("our file");
        match (Token::read(&path), want) {
            (Ok(token), Ok(secret)) => assert_eq!(token.0, secret.as_bytes()),
            (Err(error), Err(text)) => assert!(error.to_string().contains(text), "{error}"),
            (got, want) => panic!("{got:?} instead of {want:?}"),
        }
    }

    #[test]
    fn only_a_private_file_with_a_long_secret_is_a_token() {
        check(" 0123456789abcdef\nmore\n", 0o600, Ok("0123456789abcdef"));
        check("0123456789abcdef", 0o400, Ok("0123456789abcdef"));
        check("0123456789abcdef", 0o640, Err("mode 640"));
        check("0123456789abcdef", 0o604, Err("chmod 600"));
        check("0123456789abcde", 0o600, Err("shorter than 16"));
        check(&"x".repeat(5_000), 0o600, Err("longer than 4096"));
        assert!(Token::read(Path::new("/dev/null")).is_err_and(|e| e.to_string().contains("no file")));
        assert!(Token::read(Path::new("/nowhere")).is_err());
    }

    #[test]
    fn a_token_is_not_shown() {
        assert_eq!(format!("{:?}", Token::new("0123456789abcdef")), "Token");
    }

    /// RFC 4231 test case 2, through the key as it is used here: HMAC over length and text.
    #[test]
    fn the_code_is_hmac_sha_256() {
        let code = code_maker(b"Jefe", &[]).chain_update("what do ya want for nothing?").finalize();
        let hex: String = code.into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }

    #[test]
    fn texts_that_are_divided_otherwise_have_another_code() {
        let token = Token::new("0123456789abcdef");
        let code = token.code(&[b"ab", b"c"]);
        assert!(token.verify(&[b"ab", b"c"], &code));
        assert!(!token.verify(&[b"a", b"bc"], &code));
        assert!(!token.verify(&[b"ab", b"c"], &code[..31]));
        assert!(!Token::new("0123456789abcdeF").verify(&[b"ab", b"c"], &code));
    }
}
