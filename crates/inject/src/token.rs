//! The secret that controller and injectors share, and the key that is made of it.

use assay_load::LoadError;
use rustix::fs::{Mode, OFlags};
use snow::params::HashChoice;
use snow::resolvers::{CryptoResolver, DefaultResolver};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Fewest characters of a token; 16 random ones cannot be tried out.
const TOKEN_BYTES_MIN: usize = 16;
const TOKEN_BYTES_MAX: u64 = 4096;
/// Put before the token, so that nothing else that may be computed from it is the key.
const KEY_OF: &[u8] = b"assay-inject key\n";

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

    /// The key of the handshake: SHA-256 of the token. A token is random, so it need not be made slow to guess.
    pub(crate) fn key(&self) -> [u8; 32] {
        let Some(mut hash) = DefaultResolver.resolve_hash(&HashChoice::SHA256) else {
            unreachable!("this build of snow has SHA-256")
        };
        hash.input(KEY_OF);
        hash.input(&self.0);
        let mut key = [0; 32];
        hash.result(&mut key);
        key
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let why = |error: &dyn fmt::Display| error.to_string();
    // Without waiting, should it be a pipe; its kind is checked on what was opened, so that it cannot be exchanged.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = rustix::fs::open(path, flags, Mode::empty()).map_err(|e| why(&io::Error::from(e)))?;
    let file = File::from(file);
    let facts = file.metadata().map_err(|e| why(&e))?;
    if !facts.is_file() {
        return Err("it is not a file".to_owned());
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
        assert!(Token::read(Path::new("/dev/null")).is_err_and(|e| e.to_string().contains("not a file")));
        assert!(Token::read(Path::new("/nowhere")).is_err());
    }

    #[test]
    fn a_token_is_not_shown() {
        assert_eq!(format!("{:?}", Token::new("0123456789abcdef")), "Token");
    }

    /// `printf 'assay-inject key\n0123456789abcdef' | sha256sum`
    #[test]
    fn the_key_is_sha_256_of_the_token() {
        let hex = |token: &str| Token::new(token).key().map(|byte| format!("{byte:02x}")).concat();
        assert_eq!(
            hex("0123456789abcdef"),
            "f026b725607c943b713ec82274d10c754b68d6211485315a37d755e8616df84b"
        );
        assert_ne!(hex("0123456789abcdef"), hex("0123456789abcdeF"));
    }
}
