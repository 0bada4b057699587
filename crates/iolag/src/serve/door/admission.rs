//! Who this server is, and who may ask it from another machine: a certificate with its key, a token, an authority of clients.
//!
//! Invariants: files are read by a child, which may hang; secrets are in no sentence, and a file with one that others may read is
//! refused; a token is compared in a time that tells nothing of it.

use std::fs::{File, OpenOptions};
use std::hint::black_box;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use serde::{Deserialize, Serialize};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use tokio_rustls::rustls::{Error, RootCertStore, ServerConfig};

/// Longer is no file of ours: some hundred authorities fit.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// Shorter tokens can be guessed.
const TOKEN_CHARACTERS_MIN: usize = 16;
/// The head of a request has to hold it.
const TOKEN_CHARACTERS_MAX: usize = 4096;
/// May all others do anything with it, and, where it is root's own (as those that systemd hands to a service), others than its group.
const OF_OTHERS: u32 = 0o077;
const OF_OTHERS_THAN_GROUP: u32 = 0o037;
const ROOT: u32 = 0;

/// The files, by absolute paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdmissionFiles {
    /// The certificate that this server shows, then those between it and its authority; in PEM.
    pub certificate: PathBuf,
    /// The certificate's private key, in PEM.
    pub key: PathBuf,
    /// The token that clients must have.
    pub token: Option<PathBuf>,
    /// The authorities of which clients must have a certificate, in PEM.
    pub client_authorities: Option<PathBuf>,
}

/// What is in the files. It holds secrets, and is to be printed nowhere.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdmissionTexts {
    certificate: String,
    key: String,
    token: Option<String>,
    client_authorities: Option<String>,
}

/// What the files come to.
pub struct Admission {
    tls: Arc<ServerConfig>,
    token: Option<Token>,
}

struct Token(String);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Privacy {
    Secret,
    Public,
}

impl AdmissionFiles {
    /// What a client must have.
    pub const fn admitted(&self) -> &'static str {
        match (&self.token, &self.client_authorities) {
            (Some(_), Some(_)) => "the token and a certificate of the authority",
            (_, Some(_)) => "a certificate of the authority",
            _ => "the token",
        }
    }

    /// Reads them; to be called in a process that may hang.
    ///
    /// # Errors
    /// One sentence, if one cannot be read, or is a secret that others may read.
    pub fn read(&self) -> Result<AdmissionTexts, String> {
        let further = |path: &Option<PathBuf>, option, privacy| {
            path.as_deref().map(|path| read(path, option, privacy)).transpose()
        };
        Ok(AdmissionTexts {
            certificate: read(&self.certificate, "--tls-certificate", Privacy::Public)?,
            key: read(&self.key, "--tls-key", Privacy::Secret)?,
            token: further(&self.token, "--token-file", Privacy::Secret)?,
            client_authorities: further(&self.client_authorities, "--client-ca", Privacy::Public)?,
        })
    }

    /// What `texts` from these files come to. Touches no file.
    ///
    /// # Errors
    /// One sentence with the file that is of no use.
    pub fn admission(&self, texts: &AdmissionTexts) -> Result<Admission, String> {
        let token = match (&self.token, &texts.token) {
            (Some(path), Some(text)) => Some(Token::new(path, text)?),
            _ => None,
        };
        Ok(Admission { tls: Arc::new(self.tls(texts)?), token })
    }

    fn tls(&self, texts: &AdmissionTexts) -> Result<ServerConfig, String> {
        let provider = Arc::new(ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
        let builder = match (&self.client_authorities, &texts.client_authorities) {
            (Some(path), Some(text)) => {
                let unusable = |error: &dyn std::fmt::Display| unusable(path, "--client-ca", error);
                let mut authorities = RootCertStore::empty();
                for authority in certificates(path, "--client-ca", text)? {
                    authorities.add(authority).map_err(|error| unusable(&error))?;
                }
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(Arc::new(authorities), provider).build();
                builder.with_client_cert_verifier(verifier.map_err(|error| unusable(&error))?)
            }
            _ => builder.with_no_client_auth(),
        };
        let chain = certificates(&self.certificate, "--tls-certificate", &texts.certificate)?;
        let key = PrivateKeyDer::from_pem_slice(texts.key.as_bytes()).map_err(|_| {
            let key = self.key.display();
            format!("{key} holds no private key in PEM without a passphrase; name one that does with --tls-key FILE")
        })?;
        let mut tls = builder.with_single_cert(chain, key).map_err(|error| self.mismatch(&error))?;
        // Each connection shows anew who it is; a certificate that has run out since opens none.
        tls.session_storage = Arc::new(NoServerSessionStorage {});
        tls.send_tls13_tickets = 0;
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(tls)
    }

    /// Why certificate and key are of no use together.
    fn mismatch(&self, error: &Error) -> String {
        match error {
            Error::InconsistentKeys(_) => format!(
                "the key in {} is not that of the first certificate in {}; name two that belong together",
                self.key.display(),
                self.certificate.display()
            ),
            Error::InvalidCertificate(_) => unusable(&self.certificate, "--tls-certificate", error),
            _ => unusable(&self.key, "--tls-key", error),
        }
    }
}

impl Admission {
    /// How connections are protected, and of whom one is taken at all.
    pub(in crate::serve) fn tls(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.tls)
    }

    /// Whether a request with these headers, on such a connection, is answered.
    pub(in crate::serve) fn admits(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else { return true };
        let mut given = headers.get_all(AUTHORIZATION).iter();
        let (Some(given), None) = (given.next(), given.next()) else { return false };
        given.to_str().is_ok_and(|given| token.is_given_by(given))
    }
}

impl Token {
    fn new(path: &Path, text: &str) -> Result<Self, String> {
        let token = text.trim();
        let refused = |what: &str| Err(format!("the token in {} {what}", path.display()));
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            // It may be another file, of which nothing must be lost.
            return refused(
                "is more than one word of letters, digits and signs: name a file that holds a token and nothing else",
            );
        }
        if token.len() > TOKEN_CHARACTERS_MAX {
            return refused(&format!("has {} characters, and may have {TOKEN_CHARACTERS_MAX}", token.len()));
        }
        if token.len() < TOKEN_CHARACTERS_MIN {
            let length = token.len();
            return refused(&format!(
                "has {length} characters, and must have {TOKEN_CHARACTERS_MIN}: openssl rand -hex 32 makes a good one"
            ));
        }
        Ok(Self(token.to_owned()))
    }

    /// Whether this is the value of a header that carries it (RFC 6750, 2.1).
    fn is_given_by(&self, header: &str) -> bool {
        let Some((scheme, given)) = header.split_once(' ') else { return false };
        let (given, own) = (given.trim().as_bytes(), self.0.as_bytes());
        // How long it is is no secret; where the first difference lies would be.
        let differences =
            given.iter().zip(own).fold(0, |differences, (given, own)| black_box(differences | (given ^ own)));
        scheme.eq_ignore_ascii_case("bearer") && given.len() == own.len() && differences == 0
    }
}

fn certificates(path: &Path, option: &str, text: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text.as_bytes()).collect();
    let found = found.map_err(|_| unusable(path, option, &"it is damaged, or no PEM"))?;
    if found.is_empty() {
        return Err(unusable(path, option, &"it holds no certificate in PEM"));
    }
    Ok(found)
}

fn unusable(path: &Path, option: &str, why: &dyn std::fmt::Display) -> String {
    format!("{} cannot be used: {why}; name another file with {option} FILE", path.display())
}

fn read(path: &Path, option: &str, privacy: Privacy) -> Result<String, String> {
    let failed = |error: std::io::Error| {
        format!("cannot read {}: {error}; name a file that you may read with {option} FILE", path.display())
    };
    // What waits for a writer is opened at once, and refused.
    let options = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC).clone();
    let file: File = options.open(path).map_err(failed)?;
    let found = file.metadata().map_err(failed)?;
    if !found.is_file() {
        return Err(unusable(path, option, &"it is no regular file"));
    }
    let others = if found.uid() == ROOT { OF_OTHERS_THAN_GROUP } else { OF_OTHERS };
    if privacy == Privacy::Secret && found.mode() & others != 0 {
        return Err(format!(
            "{} is a secret, and others may read it (mode {:04o}): keep them out with: chmod 600 {0}",
            path.display(),
            found.mode() & 0o7777
        ));
    }
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(unusable(path, option, &"it has more than 1 MiB"));
    }
    // What is no text holds nothing of ours, which is found out where it is looked for.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;
    use proptest::prelude::*;
    use std::os::unix::fs::PermissionsExt;

    const TOKEN: &str = "0123456789abcdef";

    fn token(text: &str) -> Result<Token, String> {
        Token::new(Path::new("/etc/iolag/token"), text)
    }

    #[test]
    fn only_the_whole_token_is_taken() {
        let own = token(&format!("{TOKEN}\n")).unwrap_or_else(|error| panic!("{error}"));
        for header in ["Bearer 0123456789abcdef", "bearer  0123456789abcdef "] {
            assert!(own.is_given_by(header), "{header}");
        }
        for header in [
            "",
            "Bearer",
            "Bearer ",
            TOKEN,
            "Basic 0123456789abcdef",
            "Bearer 0123456789abcde",
            "Bearer 0123456789abcdefg",
            "Bearer 0123456789abcdeF",
            "Bearer x123456789abcdef",
            "Bearer 0123456789abcdef 0123456789abcdef",
        ] {
            assert!(!own.is_given_by(header), "{header}");
        }
    }

    #[test]
    fn two_headers_are_none() {
        let tls = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(tokio_rustls::rustls::server::ResolvesServerCertUsingSni::new()));
        let admission = Admission { tls: Arc::new(tls), token: token(TOKEN).ok() };
        let mut headers = HeaderMap::new();
        assert!(!admission.admits(&headers));
        headers.append(AUTHORIZATION, HeaderValue::from_static("Bearer 0123456789abcdef"));
        assert!(admission.admits(&headers));
        headers.append(AUTHORIZATION, HeaderValue::from_static("Bearer 0123456789abcdef"));
        assert!(!admission.admits(&headers));
    }

    #[test]
    fn a_token_that_can_be_guessed_is_refused_and_not_shown() {
        for text in [
            "",
            "\n",
            "short",
            "0123456789abcde",
            "0123456789 abcdef",
            "0123456789\nabcdef",
            "pässword-pässword",
        ] {
            let refused = token(text).err().unwrap_or_else(|| panic!("{text:?} was taken"));
            assert!(refused.starts_with("the token in /etc/iolag/token "));
            let shown = text.trim();
            assert!(shown.is_empty() || !refused.contains(shown), "{refused}");
        }
    }

    #[test]
    fn a_secret_that_others_may_read_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key");
        std::fs::write(&path, TOKEN).unwrap();
        let read_with = |mode: u32, privacy| {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            read(&path, "--tls-key", privacy)
        };
        let is_roots = path.metadata().unwrap().uid() == ROOT;
        for (mode, is_taken) in
            [(0o600, true), (0o400, true), (0o640, is_roots), (0o660, false), (0o604, false), (0o644, false)]
        {
            let read = read_with(mode, Privacy::Secret);
            assert_eq!(read.is_ok(), is_taken, "{mode:o}");
            let refused = read.err().unwrap_or_default();
            assert!(is_taken || refused.contains(&format!("(mode {mode:04o})")), "{refused}");
        }
        assert_eq!(read_with(0o644, Privacy::Public).as_deref(), Ok(TOKEN));
    }

    #[test]
    fn what_is_no_file_is_refused_and_waited_for_by_nobody() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        for path in [pipe.as_path(), directory.path()] {
            let refused = read(path, "--client-ca", Privacy::Public).unwrap_err();
            assert!(refused.contains("no regular file") && refused.contains("--client-ca"), "{refused}");
        }
        let large = directory.path().join("large");
        File::create(&large).unwrap().set_len(FILE_BYTES_MAX + 1).unwrap();
        assert!(read(&large, "--client-ca", Privacy::Public).unwrap_err().contains("1 MiB"));
    }

    proptest! {
        #[test]
        fn nothing_else_is_taken(header in "(Bearer )?[ -~]{0,40}") {
            let own = Token(TOKEN.to_owned());
            let is_own = header.strip_prefix("Bearer ").is_some_and(|given| given.trim() == TOKEN);
            prop_assert_eq!(own.is_given_by(&header), is_own);
        }
    }
}
