//! A real S3 server: versitygw, which keeps objects as files of a directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::mounts::new_directory;
use crate::servers::certificates::make_certificates;
use crate::servers::running::{Running, program};
use crate::skipping::{current_test, skip};

const PROGRAM: &str = "versitygw";

/// A server with one bucket, [`S3Server::BUCKET`], and the key [`S3Server::KEY`] with [`S3Server::SECRET`]. Dropping ends and removes it.
#[derive(Debug)]
pub struct S3Server {
    running: Running,
    authority: Option<PathBuf>,
}

impl S3Server {
    /// The only bucket.
    pub const BUCKET: &'static str = "bucket";
    /// Who may do everything.
    pub const KEY: &'static str = "iolagtests";
    /// The secret that goes with it.
    pub const SECRET: &'static str = "gehe/im+42";

    /// Starts a server without TLS.
    ///
    /// Returns `None`, the current test named as skipped, where versitygw is not installed.
    pub fn start() -> Option<Self> {
        Self::start_in(None, None)
    }

    /// Starts a server that keeps its objects in this directory.
    pub fn start_on(objects: &Path) -> Option<Self> {
        Self::start_in(Some(objects), None)
    }

    /// Starts a server with TLS, with a certificate for these names (`DNS:localhost`) that is valid for so many days from now.
    pub fn start_with_tls(names: &str, days: i64) -> Option<Self> {
        Self::start_in(None, Some((names, days)))
    }

    /// Starts a server that takes nothing.
    pub fn start_read_only() -> Option<Self> {
        Self::start_with(None, None, &["--readonly"])
    }

    fn start_in(objects: Option<&Path>, tls: Option<(&str, i64)>) -> Option<Self> {
        Self::start_with(objects, tls, &[])
    }

    fn start_with(
        objects: Option<&Path>,
        tls: Option<(&str, i64)>,
        options: &'static [&'static str],
    ) -> Option<Self> {
        let Some(program) = program(PROGRAM) else {
            skip(
                &current_test(),
                "there is no versitygw: `cargo xtask test --only install` builds it where there is Go",
            );
            return None;
        };
        let directory = new_directory("s3");
        let objects = objects.map_or_else(|| directory.join("objects"), Path::to_owned);
        fs::create_dir_all(objects.join(Self::BUCKET))
            .expect("a directory that was just made can be written");
        let certificates = match tls.map(|(names, days)| make_certificates(&directory, names, days)) {
            Some(None) => {
                skip(&current_test(), "there is no openssl");
                return None;
            }
            made => made.flatten(),
        };
        let authority = certificates.as_ref().map(|made| made.authority.clone());
        let running = Running::start(directory, move |_, port| {
            let mut command = Command::new(&program);
            command.env_clear().env("ROOT_ACCESS_KEY", Self::KEY).env("ROOT_SECRET_KEY", Self::SECRET);
            command.args(options).args(["--keep-alive", "--quiet", "--port", &format!("127.0.0.1:{port}")]);
            if let Some(made) = &certificates {
                command.arg("--cert").arg(&made.certificate).arg("--key").arg(&made.key);
            }
            command.arg("posix").arg(&objects);
            command
        });
        Some(Self { running, authority })
    }

    /// The server's URL, by the name `localhost` where it has TLS.
    pub fn endpoint(&self) -> String {
        match self.authority {
            Some(_) => format!("https://localhost:{}", self.running.port),
            None => format!("http://127.0.0.1:{}", self.running.port),
        }
    }

    /// The port on the loopback.
    pub const fn port(&self) -> u16 {
        self.running.port
    }

    /// The certificate of the authority that vouches for the server, if it has TLS.
    pub fn authority(&self) -> Option<&Path> {
        self.authority.as_deref()
    }

    /// A target with everything in it: key, secret and endpoint.
    pub fn target(&self, prefix: &str) -> String {
        let secret = Self::SECRET.replace('/', "%2F").replace('+', "%2B");
        let (key, bucket) = (Self::KEY, Self::BUCKET);
        format!("s3://{key}:{secret}@{bucket}/{prefix}#endpoint={}", self.endpoint())
    }

    /// Where objects of the bucket are files.
    pub fn objects(&self) -> PathBuf {
        self.running.directory.join("objects").join(Self::BUCKET)
    }

    /// The process.
    pub fn id(&self) -> u32 {
        self.running.id()
    }

    /// Ends it at once, as a crash would.
    pub fn kill(&mut self) {
        self.running.kill();
    }

    /// Starts it again on its port, with what it had kept.
    pub fn restart(&mut self) {
        self.running.restart();
    }
}
