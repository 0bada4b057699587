//! Certificates of tests, made by openssl: good ones, and ones that nobody should trust.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// An authority and what it vouches for, as files in PEM.
#[derive(Debug, Clone)]
pub(super) struct Certificates {
    pub(super) authority: PathBuf,
    pub(super) certificate: PathBuf,
    pub(super) key: PathBuf,
}

/// Makes an authority and a certificate for `names` (`DNS:localhost,IP:127.0.0.1`) that is valid for so many days from now, or was until so
/// many days ago; `None` without openssl.
pub(super) fn make_certificates(directory: &Path, names: &str, days: i64) -> Option<Certificates> {
    let openssl = |arguments: &[&str]| {
        let output =
            Command::new("openssl").args(arguments).current_dir(directory).stdin(Stdio::null()).output();
        output.is_ok_and(|output| output.status.success())
    };
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    let authority =
        ["-x509", "-days", "3650", "-subj", "/CN=iolag tests", "-keyout", "ca.key", "-out", "ca.pem"];
    let request = ["-subj", "/CN=localhost", "-keyout", "server.key", "-out", "server.csr"];
    let days = days.to_string();
    let signing = format!(
        "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days {days} -extfile names -out server.pem"
    );
    fs::write(directory.join("names"), format!("subjectAltName={names}\n")).ok()?;
    let is_made = openssl(&[&["req"][..], &key, &authority].concat())
        && openssl(&[&["req"][..], &key, &request].concat())
        && openssl(&signing.split_ascii_whitespace().collect::<Vec<_>>());
    is_made.then(|| Certificates {
        authority: directory.join("ca.pem"),
        certificate: directory.join("server.pem"),
        key: directory.join("server.key"),
    })
}
