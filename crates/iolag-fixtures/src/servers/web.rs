//! A real web server with WebDAV: nginx.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::mounts::new_directory;
use crate::servers::certificates::make_certificates;
use crate::servers::running::{Running, program};
use crate::skipping::{current_test, skip};

const MODULE: &str = "/usr/lib/nginx/modules/ngx_http_dav_ext_module.so";

/// A server whose `/dav/` takes everything, and whose `/private/` asks for [`WebServer::USER`] and [`WebServer::PASSWORD`]. Dropping ends and removes
/// it.
#[derive(Debug)]
pub struct WebServer {
    running: Running,
    authority: Option<PathBuf>,
}

impl WebServer {
    /// Who may see `/private/`.
    pub const USER: &'static str = "iolag";
    /// The password that goes with it.
    pub const PASSWORD: &'static str = "geheim";

    /// Starts a server without TLS.
    ///
    /// Returns `None`, the current test named as skipped, where nginx or its module for WebDAV is not installed.
    pub fn start() -> Option<Self> {
        Self::start_with(None)
    }

    /// Starts a server with TLS, with a certificate for these names (`DNS:localhost`) that is valid for so many days from now.
    pub fn start_with_tls(names: &str, days: i64) -> Option<Self> {
        Self::start_with(Some((names, days)))
    }

    fn start_with(tls: Option<(&str, i64)>) -> Option<Self> {
        let Some(program) = program("nginx").filter(|_| Path::new(MODULE).exists()) else {
            skip(&current_test(), "nginx with its module for WebDAV is not installed");
            return None;
        };
        let directory = new_directory("web");
        for name in ["data/dav", "data/private", "temporary"] {
            fs::create_dir_all(directory.join(name)).expect("a directory that was just made can be written");
        }
        let certificates = match tls.map(|(names, days)| make_certificates(&directory, names, days)) {
            Some(None) => {
                skip(&current_test(), "there is no openssl");
                return None;
            }
            made => made.flatten(),
        };
        let password = format!("{}:{{PLAIN}}{}\n", Self::USER, Self::PASSWORD);
        fs::write(directory.join("passwords"), password)
            .expect("a directory that was just made can be written");
        let authority = certificates.as_ref().map(|made| made.authority.clone());
        let running = Running::start(directory, move |directory, port| {
            let tls = certificates.as_ref().map_or_else(String::new, |made| {
                format!(
                    "ssl_certificate {}; ssl_certificate_key {}; ssl_protocols TLSv1.2 TLSv1.3;",
                    made.certificate.display(),
                    made.key.display()
                )
            });
            let listen =
                if tls.is_empty() { format!("127.0.0.1:{port}") } else { format!("127.0.0.1:{port} ssl") };
            let file = directory.join("nginx.conf");
            fs::write(&file, configuration(directory, &listen, &tls)).expect("it was just made");
            let mut command = Command::new(&program);
            command.env_clear().arg("-e").arg(directory.join("errors")).arg("-c").arg(file);
            command
        });
        Some(Self { running, authority })
    }

    /// The port on the loopback.
    pub const fn port(&self) -> u16 {
        self.running.port
    }

    /// A target of a scheme, `http` or `dav`: with TLS it gets the s, and the name `localhost`.
    pub fn target(&self, scheme: &str, path: &str) -> String {
        match self.authority {
            Some(_) => format!("{scheme}s://localhost:{}/{path}", self.running.port),
            None => format!("{scheme}://127.0.0.1:{}/{path}", self.running.port),
        }
    }

    /// The certificate of the authority that vouches for the server, if it has TLS.
    pub fn authority(&self) -> Option<&Path> {
        self.authority.as_deref()
    }

    /// Where what is served are files.
    pub fn data(&self) -> PathBuf {
        self.running.directory.join("data")
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

fn configuration(directory: &Path, listen: &str, tls: &str) -> String {
    let directory = directory.display();
    let user = if rustix::process::geteuid().is_root() { "user root;" } else { "" };
    format!(
        "load_module {MODULE}; daemon off; master_process off; worker_processes 1; pid {directory}/pid; {user}\n\
         events {{ worker_connections 8192; }}\n\
         http {{ access_log off; client_max_body_size 0; keepalive_requests 1000000; server_tokens on;\n\
         client_body_temp_path {directory}/temporary; proxy_temp_path {directory}/temporary; fastcgi_temp_path {directory}/temporary;\n\
         uwsgi_temp_path {directory}/temporary; scgi_temp_path {directory}/temporary;\n\
         server {{ listen {listen} backlog=4096; {tls} root {directory}/data;\n\
         location /dav/ {{ dav_methods PUT DELETE MKCOL COPY MOVE; dav_ext_methods PROPFIND OPTIONS; dav_access user:rw; }}\n\
         location /private/ {{ auth_basic iolag; auth_basic_user_file {directory}/passwords; dav_methods PUT DELETE MKCOL MOVE; dav_ext_methods PROPFIND OPTIONS; }}\n\
         location /busy/ {{ add_header Retry-After 7 always; return 503; }}\n\
         location /moved/ {{ return 302 /dav/; }}\n\
         }} }}\n"
    )
}
