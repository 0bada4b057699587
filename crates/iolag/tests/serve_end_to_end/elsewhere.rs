//! Metrics for other machines: over TLS, for who may ask, and nothing else.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;

use iolag_fixtures::FuseMount;

use crate::certificates::{Authority, Client, Identity, Versions, write_secret};
use crate::server::Server;
use crate::stage::{Stage, assert_refused, target};
use crate::support::{PATIENCE, assert_says, children, wait_for, wait_until};

pub const TOKEN: &str = "3d7c1b5a9e8f4d2c6b0a";
const BEARER: (&str, &str) = ("Authorization", "Bearer 3d7c1b5a9e8f4d2c6b0a");
const OTHER_TOKEN: &str = "another-token-of-24-chars";

/// A watch that measured, an authority, and the files for a server.
pub struct Site {
    pub stage: Stage,
    pub authority: Authority,
    certificate: String,
    key: String,
    pub token: String,
    clients: String,
}

impl Site {
    pub fn new() -> Self {
        let stage = Stage::new();
        let directory = stage.directory("watched");
        let file = stage.configure(&format!("every = \"300ms\"\n{}", target("home", directory, "stat")));
        stage.watch_to(0, &["-c", &file, "--rounds", "1"]);
        let authority = Authority::new("the site");
        let own = authority.server();
        let place = stage.scene.path();
        Self {
            certificate: write_secret(place, "server.pem", &own.certificate),
            key: write_secret(place, "server.key", &own.key),
            token: write_secret(place, "token", &format!("{TOKEN}\n")),
            clients: write_secret(place, "clients.pem", &authority.certificate()),
            authority,
            stage,
        }
    }

    /// Serves metrics elsewhere, too, with `more` to say who may ask.
    pub fn serve(&self, more: &[&str]) -> (Server, SocketAddr) {
        let mut arguments = vec!["--metrics-listen", "127.0.0.1:0"];
        arguments.extend(["--tls-certificate", &self.certificate, "--tls-key", &self.key]);
        arguments.extend(more);
        let mut server = Server::start(&self.stage, &arguments);
        let metrics = server.metrics_address();
        server.wait_until_read();
        (server, metrics)
    }

    fn client(&self, own: Option<&Identity>) -> Client {
        Client::new(&self.authority, own, Versions::Only13)
    }

    fn replace_identity(&self, identity: &Identity) {
        fs::write(&self.certificate, &identity.certificate).unwrap();
        fs::write(&self.key, &identity.key).unwrap();
    }

    /// `iolag serve` is refused.
    fn refused(&self, more: &[&str], parts: &[&str]) {
        let done = self.stage.scene.run(&[&["serve", "--listen", "127.0.0.1:0"], more].concat());
        assert_refused(&done, 2, parts);
    }
}

#[test]
fn the_token_opens_the_metrics_and_nothing_else() {
    let site = Site::new();
    let (server, metrics) = site.serve(&["--token-file", &site.token]);
    let said = server.said();
    for versions in [Versions::Only12, Versions::Only13] {
        let client = Client::new(&site.authority, None, versions);
        let answer = client.ask(metrics, "GET", "/metrics", &[BEARER]).unwrap();
        assert_eq!(answer.status, 200, "{versions:?}");
        assert_says(
            &answer.text(),
            &["iolag_probe_runs_total{task=\"stat\",target=\"home\",outcome=\"ok\"} 1"],
        );
        let head = client.ask(metrics, "HEAD", "/metrics", &[BEARER]).unwrap();
        assert_eq!((head.status, head.body.len()), (200, 0));
        for path in
            ["/", "/now", "/now.css", "/now.json", "/data", "/status", "/healthz", "/metrics/", "//metrics"]
        {
            let answer = client.ask(metrics, "GET", path, &[BEARER]).unwrap();
            assert_eq!((answer.status, answer.text().as_str()), (404, "there is /metrics\n"), "{path}");
        }
        let written = client.ask(metrics, "POST", "/metrics", &[BEARER]).unwrap();
        assert_eq!((written.status, written.headers["allow"].as_str()), (405, "GET, HEAD"));
    }
    let client = site.client(None);
    for headers in [
        &[][..],
        &[("Authorization", "Bearer wrong-token-0123456789")],
        &[("Authorization", "Bearer ")],
        &[("Authorization", "Basic 3d7c1b5a9e8f4d2c6b0a")],
        &[BEARER, BEARER],
    ] {
        for path in ["/metrics", "/", "/data", "/nothing"] {
            let kept = [headers, &[("Connection", "keep-alive")]].concat();
            // That the answer has an end shows that the connection has.
            let answer = client.ask(metrics, "GET", path, &kept).unwrap();
            assert_eq!((answer.status, answer.text().as_str()), (401, "not admitted\n"), "{headers:?}");
            assert_eq!(answer.headers["www-authenticate"], "Bearer");
            assert_eq!(answer.headers["cache-control"], "no-store");
        }
    }
    assert_eq!(server.said(), said, "who is not admitted fills no log");
    assert_eq!(server.get("/now").status, 200, "the page needs no token on loopback");
    assert_eq!(server.ask("GET", "/metrics", &[("Host", "metrics.example")]).status, 421);
    let done = server.stop();
    assert!(!done.stderr.contains(TOKEN), "{}", done.stderr);
}

#[test]
fn without_tls_nothing_is_said() {
    let site = Site::new();
    let (server, metrics) = site.serve(&["--token-file", &site.token]);
    let mut stream = TcpStream::connect(metrics).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
        .write_all(
            format!("GET /metrics HTTP/1.1\r\nHost: x\r\n{}: {}\r\n\r\n", BEARER.0, BEARER.1).as_bytes(),
        )
        .unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    assert!(answer.len() < 16 && !answer.starts_with(b"HTTP"), "{answer:?}");
    let mut silent = TcpStream::connect(metrics).unwrap();
    silent.set_read_timeout(Some(PATIENCE)).unwrap();
    assert_eq!(silent.read(&mut [0]).unwrap(), 0, "who shows nothing is left");
    server.stop();
}

#[test]
fn a_certificate_of_the_authority_is_asked_for() {
    let site = Site::new();
    let stranger = Authority::new("the site");
    let (known, unknown) = (site.authority.client(), stranger.client());
    let (server, metrics) = site.serve(&["--client-ca", &site.clients]);
    for versions in [Versions::Only12, Versions::Only13] {
        let ask = |own| Client::new(&site.authority, own, versions).ask(metrics, "GET", "/metrics", &[]);
        assert_eq!(ask(Some(&known)).unwrap().status, 200, "{versions:?}");
        assert!(ask(None).is_err() && ask(Some(&unknown)).is_err(), "{versions:?}");
        // What proves a server is no proof of a client.
        assert!(ask(Some(&site.authority.server())).is_err(), "{versions:?}");
    }
    server.stop();
    let (server, metrics) = site.serve(&["--client-ca", &site.clients, "--token-file", &site.token]);
    let ask = |own, headers| site.client(own).ask(metrics, "GET", "/metrics", headers);
    assert_eq!(ask(Some(&known), &[BEARER]).unwrap().status, 200);
    assert_eq!(ask(Some(&known), &[]).unwrap().status, 401);
    assert!(ask(None, &[BEARER]).is_err());
    server.stop();
}

#[test]
fn strangers_keep_nobody_out() {
    let site = Site::new();
    let (server, metrics) = site.serve(&["--token-file", &site.token]);
    let idlers: Vec<_> = (0..300).map(|_| TcpStream::connect(metrics).unwrap()).collect();
    let client = site.client(None);
    for _ in 0..3 {
        assert_eq!(client.ask(metrics, "GET", "/metrics", &[BEARER]).unwrap().status, 200);
        assert_eq!(server.get("/now").status, 200);
    }
    let open = fs::read_dir(format!("/proc/{}/fd", server.id())).unwrap().count();
    assert!(open < 64 + 40, "{open} descriptors are open");
    let threads = fs::read_dir(format!("/proc/{}/task", server.id())).unwrap().count();
    assert_eq!(threads, 1, "it forks, so it must have one thread");
    drop(idlers);
    server.stop();
    site.stage.scene.assert_nobody_is_left();
}

#[test]
fn what_is_renewed_is_read_again_and_what_is_broken_is_not_used() {
    let site = Site::new();
    let (server, metrics) = site.serve(&["--token-file", &site.token]);
    let successor = Authority::new("the next");
    let ask = |authority: &Authority, token: &str| {
        let bearer = format!("Bearer {token}");
        let client = Client::new(authority, None, Versions::Only13);
        client.ask(metrics, "GET", "/metrics", &[("Authorization", &bearer)]).ok().map(|answer| answer.status)
    };
    site.replace_identity(&successor.server());
    fs::write(&site.token, OTHER_TOKEN).unwrap();
    wait_for("what was renewed", || ask(&successor, OTHER_TOKEN).filter(|status| *status == 200));
    assert_eq!((ask(&site.authority, OTHER_TOKEN), ask(&successor, TOKEN)), (None, Some(401)));

    fs::write(&site.certificate, "-----BEGIN CERTIFICATE-----\nnonsense").unwrap();
    let complaint = format!("{} cannot be used: it is damaged, or no PEM", site.certificate);
    assert!(wait_until(PATIENCE, || server.said().contains(&complaint)), "{}", server.said());
    assert_says(&server.said(), &["what was read before still holds"]);
    assert_eq!(ask(&successor, OTHER_TOKEN), Some(200));
    site.replace_identity(&site.authority.server());
    wait_for("the old authority", || ask(&site.authority, OTHER_TOKEN).filter(|status| *status == 200));
    let done = server.stop();
    assert_eq!(done.stderr.matches(&complaint).count(), 1, "{}", done.stderr);
    assert_says(&done.stderr, &["the files for --metrics-listen can be used again"]);
    assert!(!done.stderr.contains(TOKEN) && !done.stderr.contains(OTHER_TOKEN), "{}", done.stderr);
}

#[test]
fn files_that_hang_keep_no_answer_back() {
    let site = Site::new();
    let Some(fuse) = FuseMount::start(&site.stage.scene.target()) else { return };
    let token = write_secret(fuse.path(), "token", TOKEN);
    let (server, metrics) = site.serve(&["--token-file", &token]);
    let client = site.client(None);
    fuse.hang_all();
    // One reads the history. The other is stuck.
    assert!(fuse.wait_until_held(1, PATIENCE), "nobody looks at the file");
    assert!(children(server.id()).len() > 1);
    assert_eq!(client.ask(metrics, "GET", "/metrics", &[BEARER]).unwrap().status, 200);
    assert_eq!(server.get("/now").status, 200);
    let done = server.stop();
    assert_eq!(done.code, Some(0), "{done:?}");

    let listen = ["--metrics-listen", "127.0.0.1:0", "--token-file", &token];
    let tls = ["--tls-certificate", &site.certificate, "--tls-key", &site.key];
    let done = site.stage.scene.run(&[&["serve", "--listen", "127.0.0.1:0"][..], &listen, &tls].concat());
    assert_refused(&done, 3, &["--metrics-listen have not been read for", "local disk"]);
    fuse.release();
    site.stage.scene.assert_nobody_is_left();
}

#[test]
fn who_may_ask_must_be_said_and_proved() {
    let site = Site::new();
    let listen = ["--metrics-listen", "127.0.0.1:0"];
    let tls = ["--tls-certificate", &site.certificate, "--tls-key", &site.key];
    let token = ["--token-file", site.token.as_str()];
    site.refused(&listen, &["over TLS only", "--tls-certificate FILE --tls-key FILE"]);
    site.refused(&[&listen[..], &tls[..2], &token].concat(), &["over TLS only"]);
    site.refused(&[&listen[..], &tls].concat(), &["--token-file FILE, --client-ca FILE or both"]);
    let all = [&listen[..], &tls, &token].concat();

    fs::set_permissions(&site.key, fs::Permissions::from_mode(0o644)).unwrap();
    site.refused(&all, &[&site.key, "(mode 0644)", "chmod 600"]);
    fs::set_permissions(&site.key, fs::Permissions::from_mode(0o600)).unwrap();
    fs::set_permissions(&site.token, fs::Permissions::from_mode(0o604)).unwrap();
    site.refused(&all, &[&site.token, "(mode 0604)", "chmod 600"]);
    fs::set_permissions(&site.token, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&site.token, "short\n").unwrap();
    site.refused(&all, &[&site.token, "has 5 characters"]);
    fs::write(&site.token, TOKEN).unwrap();

    let whole = fs::read_to_string(&site.certificate).unwrap();
    let other = site.authority.server();
    let key = &site.key;
    for (broken, part) in [
        ("", "holds no certificate in PEM"),
        ("\0\u{1}", "holds no certificate in PEM"),
        (&whole[..60], "damaged"),
        ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "cannot be used"),
        (&other.certificate, "belong together"),
        (&fs::read_to_string(key).unwrap(), "holds no certificate in PEM"),
    ] {
        fs::write(&site.certificate, broken).unwrap();
        site.refused(&all, &[&site.certificate, part]);
    }
    fs::write(&site.certificate, &whole).unwrap();
    fs::write(key, "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n").unwrap();
    site.refused(&all, &[key]);
    fs::write(key, &whole).unwrap();
    site.refused(&all, &[key, "no private key in PEM"]);
    fs::remove_file(key).unwrap();
    site.refused(&all, &["cannot read", key, "--tls-key FILE"]);
}

#[test]
fn an_authority_that_is_none_is_refused() {
    let site = Site::new();
    let tls = ["--tls-certificate", &site.certificate, "--tls-key", &site.key];
    let listen = ["--metrics-listen", "127.0.0.1:0", "--client-ca", &site.clients];
    let all = [&listen[..], &tls].concat();
    for (text, part) in [
        ("", "no certificate in PEM"),
        ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "cannot be used"),
    ] {
        fs::write(&site.clients, text).unwrap();
        site.refused(&all, &[&site.clients, part, "--client-ca FILE"]);
    }
}
