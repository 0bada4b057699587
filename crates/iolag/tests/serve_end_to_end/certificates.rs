//! Authorities and certificates that are made for one test, and a client that speaks TLS.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::server::Answer;
use crate::support::PATIENCE;

pub struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key, both in PEM.
#[derive(Debug, Clone)]
pub struct Identity {
    pub certificate: String,
    pub key: String,
}

impl Authority {
    pub fn new(name: &str) -> Self {
        let mut wanted = CertificateParams::new(Vec::new()).unwrap();
        wanted.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        wanted.distinguished_name.push(DnType::CommonName, name);
        Self(CertifiedIssuer::self_signed(wanted, KeyPair::generate().unwrap()).unwrap())
    }

    pub fn certificate(&self) -> String {
        self.0.pem()
    }

    /// For a server on this machine.
    pub fn server(&self) -> Identity {
        self.identity(&["localhost", "127.0.0.1"], ExtendedKeyUsagePurpose::ServerAuth)
    }

    pub fn client(&self) -> Identity {
        self.identity(&["prometheus.example"], ExtendedKeyUsagePurpose::ClientAuth)
    }

    fn identity(&self, names: &[&str], usage: ExtendedKeyUsagePurpose) -> Identity {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut wanted = CertificateParams::new(names).unwrap();
        wanted.extended_key_usages = vec![usage];
        let key = KeyPair::generate().unwrap();
        let certificate = wanted.signed_by(&key, &self.0).unwrap().pem();
        Identity { certificate, key: key.serialize_pem() }
    }
}

/// A file that only its owner may read; returns its path.
pub fn write_secret(directory: &Path, name: &str, text: &str) -> String {
    let path = directory.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A client that trusts one authority.
#[derive(Clone)]
pub struct Client(Arc<ClientConfig>);

/// Which versions a client speaks.
#[derive(Debug, Clone, Copy)]
pub enum Versions {
    Only12,
    Only13,
}

impl Client {
    pub fn new(trusted: &Authority, own: Option<&Identity>, versions: Versions) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(trusted.certificate().as_bytes()).unwrap()).unwrap();
        let versions = match versions {
            Versions::Only12 => [&TLS12],
            Versions::Only13 => [&TLS13],
        };
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&versions)
            .unwrap()
            .with_root_certificates(roots);
        Self(Arc::new(match own {
            None => builder.with_no_client_auth(),
            Some(own) => {
                let chain = vec![CertificateDer::from_pem_slice(own.certificate.as_bytes()).unwrap()];
                let key = PrivateKeyDer::from_pem_slice(own.key.as_bytes()).unwrap();
                builder.with_client_auth_cert(chain, key).unwrap()
            }
        }))
    }

    /// What is answered to one request, or why there is no answer.
    pub fn ask(
        &self,
        server: SocketAddr,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
    ) -> std::io::Result<Answer> {
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: metrics.example\r\n");
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if !headers.iter().any(|(name, _)| *name == "Connection") {
            head.push_str("Connection: close\r\n");
        }
        let stream = TcpStream::connect_timeout(&server, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let connection = ClientConnection::new(Arc::clone(&self.0), "localhost".try_into().unwrap());
        let mut stream = StreamOwned::new(connection.map_err(std::io::Error::other)?, stream);
        stream.write_all(format!("{head}\r\n").as_bytes())?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        Ok(Answer::parse(&answer))
    }
}
