//! What is wrong where TLS fails, and what mends it.

use rustls::client::ResolvesClientCert;
use rustls::sign::CertifiedKey;
use rustls::{AlertDescription, CertificateError, SignatureScheme};
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether there is a certificate of the client. Where there is none it stands in for one, and notes whether a server asked for it: an alert
/// alone does not tell a handshake without a certificate from one without a common cipher.
#[derive(Debug)]
pub(super) struct OwnCertificate {
    is_given: bool,
    was_asked: AtomicBool,
}

impl OwnCertificate {
    pub fn new(is_given: bool) -> OwnCertificate {
        OwnCertificate { is_given, was_asked: AtomicBool::new(false) }
    }
}

impl ResolvesClientCert for OwnCertificate {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.was_asked.store(true, Ordering::Relaxed);
        None
    }

    fn has_certs(&self) -> bool {
        false
    }
}

/// Says what is wrong, and what mends it.
pub(super) fn failed(error: &rustls::Error, own: &OwnCertificate) -> io::Error {
    let fix = match error {
        rustls::Error::InvalidCertificate(wrong) => of_certificate(wrong),
        rustls::Error::AlertReceived(alert) => of_alert(*alert, own),
        rustls::Error::InvalidMessage(_) => "; is this a port that speaks TLS?",
        _ => "",
    };
    io::Error::new(ErrorKind::InvalidData, format!("TLS: {error}{fix}"))
}

fn of_certificate(wrong: &CertificateError) -> &'static str {
    use CertificateError as Wrong;
    match wrong {
        Wrong::NotValidForName | Wrong::NotValidForNameContext { .. } => {
            "; give the name that it holds with --server-name"
        }
        Wrong::Expired | Wrong::ExpiredContext { .. } => "; renew it",
        Wrong::NotValidYet | Wrong::NotValidYetContext { .. } => "; check the clocks of both hosts",
        Wrong::UnknownIssuer => "; give the authority's certificate with --trust",
        Wrong::BadSignature => {
            "; another authority of the same name signed it: give its certificate with --trust"
        }
        Wrong::Other(_) => {
            "; a certificate that is an authority's own (CA:TRUE) cannot be a server's: make one with CA:FALSE"
        }
        _ => "",
    }
}

fn of_alert(alert: AlertDescription, own: &OwnCertificate) -> &'static str {
    use AlertDescription as Alert;
    match alert {
        Alert::CertificateRequired
        | Alert::BadCertificate
        | Alert::UnknownCA
        | Alert::CertificateUnknown
        | Alert::AccessDenied
        | Alert::HandshakeFailure
            if own.was_asked.load(Ordering::Relaxed) =>
        {
            "; the server wants a certificate of the client: give --client-cert and --client-key"
        }
        Alert::CertificateRequired
        | Alert::BadCertificate
        | Alert::UnknownCA
        | Alert::CertificateUnknown
        | Alert::CertificateExpired
        | Alert::CertificateRevoked
        | Alert::UnsupportedCertificate
        | Alert::AccessDenied
            if own.is_given =>
        {
            "; the server does not accept the certificate of --client-cert"
        }
        Alert::HandshakeFailure | Alert::InsufficientSecurity => {
            "; the server has no cipher, group or kind of certificate in common with this client, which offers AES-GCM and ChaCha20 with \
             X25519, P-256 and P-384"
        }
        Alert::ProtocolVersion => {
            "; the server speaks another version of TLS: this client speaks 1.2 and 1.3"
        }
        Alert::UnrecognisedName => "; the server does not know that name: give another with --server-name",
        Alert::NoApplicationProtocol => {
            "; the server does not speak HTTP/2 here: leave --http out, or turn it on in the server"
        }
        _ => "",
    }
}
