//! Certificates of an authority that the test makes, for servers and clients.

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

/// An authority, and the folder with its files.
pub struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
    pub folder: TempDir,
}

/// A certificate with its key, in PEM.
pub struct Certificate {
    pub chain: String,
    pub key: String,
}

impl Authority {
    pub fn new(name: &str) -> Authority {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).expect("signed").pem();
        Authority { pem, issuer: Issuer::new(params, key), folder: TempDir::new().expect("a folder") }
    }

    /// Certifies names until the end of a year.
    pub fn certify(&self, names: &[&str], until_year: i32) -> Certificate {
        let key = KeyPair::generate().expect("a key");
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).expect("names");
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(until_year, 12, 31);
        let chain = params.signed_by(&key, &self.issuer).expect("signed").pem();
        Certificate { chain, key: key.serialize_pem() }
    }

    /// A file that says whom to trust.
    pub fn trust(&self) -> PathBuf {
        self.file("ca.pem", &self.pem)
    }

    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        path
    }

    /// A server that shows this certificate, and may want one of its clients that the authority signed.
    pub fn server(&self, certificate: &Certificate, wants_client: bool) -> Arc<ServerConfig> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .expect("versions");
        let builder = if wants_client {
            let mut roots = RootCertStore::empty();
            roots.add(der(&self.pem)).expect("an authority");
            let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider).build();
            builder.with_client_cert_verifier(verifier.expect("an authority"))
        } else {
            builder.with_no_client_auth()
        };
        let key = PrivateKeyDer::from_pem_slice(certificate.key.as_bytes()).expect("a key");
        let mut config =
            builder.with_single_cert(vec![der(&certificate.chain)], key).expect("a certificate and its key");
        config.ticketer = rustls::crypto::ring::Ticketer::new().expect("random keys");
        Arc::new(config)
    }
}

fn der(pem: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(pem.as_bytes()).expect("a certificate")
}
