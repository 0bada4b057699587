//! Servers instead of directories, and beside them: what they are asked, what a silent one is, and what is told of who we are there.

mod pinging;
mod watching;

use std::path::Path;

use iolag_fixtures::{Proxy, S3Server};

/// The target of a bucket with a proxy in between.
pub fn through(proxy: &Proxy, server: &S3Server) -> String {
    server.target("x").replace(&server.port().to_string(), &proxy.port().to_string())
}

/// What must be in no file: secrets as they are and as they stand in URLs.
const SECRETS: [&str; 4] =
    [S3Server::SECRET, "gehe%2Fim", iolag_fixtures::PostgresServer::PASSWORD, "Schl0ss%20"];

/// Asserts that no file below a directory holds a secret.
pub fn assert_no_secrets(directory: &Path) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            assert_no_secrets(&path);
        } else if path.is_file() {
            let bytes = std::fs::read(&path).unwrap_or_default();
            for secret in SECRETS {
                let is_in = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
                assert!(!is_in, "{secret:?} is in {}", path.display());
            }
        }
    }
}

/// Asserts that no secret stands in this text.
pub fn assert_tells_no_secret(text: &str) {
    SECRETS.iter().for_each(|secret| assert!(!text.contains(secret), "{secret:?} in {text}"));
}

/// Asserts that nobody sees a secret in the arguments of a process.
pub fn assert_hides_arguments(process: u32) {
    assert_tells_no_secret(&String::from_utf8_lossy(
        &std::fs::read(format!("/proc/{process}/cmdline")).unwrap(),
    ));
}
