//! TLS settings of a user: trusted roots, client certificate, server name.

use crate::LoadError;
use assay_text::file::{TextError, read_text};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;

/// Longest PEM file that is read, bytes: the certificates of all public authorities have 230 KB.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// How TLS is spoken with a server. Files are held by their content, so that injectors on other hosts need none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsOptions {
    /// Certificates that are trusted, in PEM; absent: those of the system.
    pub trust: Option<Pem>,
    /// What the client shows of itself where the server asks for it.
    pub client: Option<ClientCertificate>,
    /// The name that is sent (SNI) and that the server's certificate must hold; absent: the host of the URL.
    pub server_name: Option<String>,
    /// Connections resume the sessions of earlier ones, where the server allows it.
    pub resumption: bool,
    /// The server's certificate is checked; without it any is taken.
    pub verify: bool,
}

/// Certificate chain and private key of a client, both in PEM.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientCertificate {
    chain: Pem,
    key: Pem,
}

/// A PEM file: its path, for messages, and its content, which is never shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pem {
    path: String,
    text: String,
}

impl fmt::Debug for Pem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Pem({:?})", self.path)
    }
}

impl Default for TlsOptions {
    /// The system's trust, no client certificate, the URL's host, with resumption, a certificate that is checked.
    fn default() -> TlsOptions {
        TlsOptions { trust: None, client: None, server_name: None, resumption: true, verify: true }
    }
}

impl TlsOptions {
    /// The same with these files: certificates that are trusted, and those of a client with their key.
    ///
    /// # Errors
    /// A file cannot be read, or does not hold what it should.
    pub fn with_files(
        self,
        trust: Option<&Path>,
        client: (Option<&Path>, Option<&Path>),
    ) -> Result<TlsOptions, LoadError> {
        let trust = trust.map(Pem::read).transpose()?;
        let client = match client {
            (Some(chain), Some(key)) => {
                Some(ClientCertificate { chain: Pem::read(chain)?, key: Pem::read(key)? })
            }
            (None, None) => None,
            (Some(one), None) | (None, Some(one)) => {
                let cause = "a certificate of the client and its key belong together; give both".to_owned();
                return Err(LoadError::Tls { what: one.display().to_string(), cause });
            }
        };
        let options = TlsOptions { trust, client, ..self };
        options.trust.as_ref().map(Pem::certificates).transpose()?;
        options.client.as_ref().map(ClientCertificate::parts).transpose()?;
        Ok(options)
    }
}

impl ClientCertificate {
    /// Chain and key.
    pub(super) fn parts(&self) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), LoadError> {
        let key = PrivateKeyDer::from_pem_slice(self.key.text.as_bytes())
            .map_err(|_| self.key.wrong("holds no private key in PEM that is not encrypted"))?;
        Ok((self.chain.certificates()?, key))
    }

    /// The chain's path, for messages.
    pub(super) fn path(&self) -> &str {
        &self.chain.path
    }
}

impl Pem {
    fn read(path: &Path) -> Result<Pem, LoadError> {
        let named = path.display().to_string();
        let text = read_text(path, FILE_BYTES_MAX);
        text.map(|text| Pem { path: named.clone(), text }).map_err(|error| {
            let cause = match error {
                TextError::File(cause) => cause.to_string(),
                TextError::Line(line, what) => format!("line {line}: {what}"),
            };
            LoadError::Tls { what: named, cause: format!("{cause}; give a file in PEM") }
        })
    }

    /// Its certificates; at least one.
    pub(super) fn certificates(&self) -> Result<Vec<CertificateDer<'static>>, LoadError> {
        let certificates =
            CertificateDer::pem_slice_iter(self.text.as_bytes()).collect::<Result<Vec<_>, _>>();
        let certificates = certificates.map_err(|error| self.wrong(&format!("is not in PEM ({error})")))?;
        if certificates.is_empty() {
            return Err(self.wrong("holds no certificate (-----BEGIN CERTIFICATE-----)"));
        }
        Ok(certificates)
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    fn wrong(&self, cause: &str) -> LoadError {
        LoadError::Tls { what: self.path.clone(), cause: cause.to_owned() }
    }
}
