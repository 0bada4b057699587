//! Protection of a connection over a network, by rustls.
//!
//! Limits: no certificates of clients; revocation is not asked for, as in most programs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

/// How a connection is protected. A root is a file of certificates in PEM; without one, those that the system trusts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Protection {
    /// Not at all.
    None,
    /// Encrypted if the server offers it.
    IfOffered,
    /// Encrypted, with whomever.
    Encrypted,
    /// Encrypted, with a server that an authority vouches for.
    Authority(Option<PathBuf>),
    /// Encrypted, with the server of the name that was asked for.
    Full(Option<PathBuf>),
}

impl Protection {
    /// What makes connections protected so; or why it cannot be made, in a sentence. `naming` says how a user names a file of certificates.
    ///
    /// # Errors
    /// If the certificates cannot be read, or there are none.
    pub fn client_config(&self, naming: &str) -> Result<ClientConfig, String> {
        client_config(self, naming)
    }
}

fn client_config(protection: &Protection, naming: &str) -> Result<ClientConfig, String> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let config = match protection {
        Protection::None | Protection::IfOffered | Protection::Encrypted => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyServer(provider)))
            .with_no_client_auth(),
        Protection::Authority(root) => {
            let inner =
                WebPkiServerVerifier::builder_with_provider(roots(root.as_deref(), naming)?, provider)
                    .build()
                    .map_err(|error| error.to_string())?;
            builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(AnyName(inner)))
                .with_no_client_auth()
        }
        Protection::Full(root) => {
            builder.with_root_certificates(roots(root.as_deref(), naming)?).with_no_client_auth()
        }
    };
    Ok(config)
}

fn roots(file: Option<&Path>, naming: &str) -> Result<Arc<RootCertStore>, String> {
    let mut store = RootCertStore::empty();
    let name = file.map_or_else(|| "the system's certificates".to_owned(), |file| file.display().to_string());
    let certificates = match file {
        Some(file) => CertificateDer::pem_file_iter(file)
            .and_then(Iterator::collect)
            .map_err(|error| format!("the certificates in {name} cannot be read: {error}"))?,
        None => rustls_native_certs::load_native_certs().certs,
    };
    store.add_parsable_certificates(certificates);
    if store.is_empty() {
        return Err(format!(
            "{name} hold no authority to prove the server by; name a file of certificates with {naming}"
        ));
    }
    Ok(Arc::new(store))
}

/// Takes any server: `sslmode=require` encrypts and proves nothing, as everywhere.
#[derive(Debug)]
struct AnyServer(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyServer {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// Takes a server of any name that an authority vouches for: `sslmode=verify-ca`.
#[derive(Debug)]
struct AnyName(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        revocation: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        // The name is looked at last, when all else was found right.
        match self.0.verify_server_cert(certificate, intermediates, name, revocation, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
