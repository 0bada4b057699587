//! Servers that are not there, do not let us in, or fail in the middle.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

use iolag_backend::conformance::maker;
use iolag_backend::{Backend, BackendError, ObjectKey, Request, Session, SessionOptions, Target};
use iolag_fixtures::{PostgresServer, Proxy, ProxyFault, S3Server, WebServer};
use iolag_model::{ClientId, ErrorClass, FailureCode, FailureOrigin, Operation};

use crate::{backend, refusal};

/// The sentence of an error, its class, and that no secret is in it.
pub(crate) fn told(error: &BackendError, secret: &str) -> (String, ErrorClass) {
    let text = error.to_string();
    assert!(!text.contains(secret) && !format!("{error:?}").contains(secret), "{text}");
    match error {
        BackendError::Server { code, .. } => (text, code.class()),
        _ => (text, ErrorClass::None),
    }
}

pub(crate) fn ask(
    session: &mut dyn Session,
    operation: Operation,
    index: u64,
    bytes: u64,
) -> (FailureCode, Option<String>) {
    let request = Request::new(operation, ObjectKey { index, ..ObjectKey::default() }, bytes);
    session.prepare(&request);
    let completion = session.execute(&request);
    let completion = session.inspect(&request, completion);
    (completion.code, session.message())
}

pub(crate) fn open(backend: &dyn Backend) -> Box<dyn Session> {
    backend.create_place(&maker()).unwrap();
    backend.open_session(&SessionOptions::new(ClientId(0), 0, 1, 4096)).unwrap()
}

#[test]
fn each_part_of_coming_to_a_server_fails_by_itself() {
    for (target, class, words) in [
        (
            "s3://bucket#endpoint=http://no-such-host.invalid",
            ErrorClass::NameResolution,
            "cannot resolve the name no-such-host.invalid",
        ),
        ("dav://127.0.0.1:1/x", ErrorClass::Connection, "cannot connect to 127.0.0.1:1: "),
        ("postgres://me@127.0.0.1:1/x", ErrorClass::Connection, "check the port"),
    ] {
        let (text, told) = told(&refusal(target), "\0");
        assert!(text.contains(words) && told == class, "{target}: {told}: {text}");
    }
}

#[test]
fn a_wrong_key_and_a_missing_bucket_are_told() {
    let Some(server) = S3Server::start() else { return };
    let target = server.target("x");
    let wrong = target.replace("gehe%2Fim", "geheim");
    let (text, class) = told(&refusal(&wrong), "geheim");
    assert!(text.contains("AWS_SECRET_ACCESS_KEY") && class == ErrorClass::Permission, "{class}: {text}");
    let missing = target.replace("@bucket/", "@other/");
    let (text, class) = told(&refusal(&missing), "gehe");
    assert!(text.contains("check the bucket's name") && class == ErrorClass::NotFound, "{class}: {text}");
}

/// A server that refuses everything, and whose clock stands still.
#[test]
fn a_clock_that_is_off_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = format!("s3://k:geheim@bucket#endpoint=http://{}", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 4096];
        assert!(stream.read(&mut request).unwrap() > 0);
        let answer =
            "HTTP/1.1 403 Forbidden\r\nDate: Mon, 05 Jan 2015 10:00:00 GMT\r\nContent-Length: 0\r\n\r\n";
        stream.write_all(answer.as_bytes()).unwrap();
    });
    let (text, class) = told(&refusal(&target), "geheim");
    assert!(text.contains("the clock of this host and that of the server are"), "{text}");
    assert_eq!(class, ErrorClass::Permission);
    server.join().unwrap();
}

#[test]
fn certificates_say_what_to_do() {
    let Some(server) = WebServer::start_with_tls("DNS:localhost", 10) else { return };
    let target = server.target("dav", "dav");
    let (text, class) = told(&refusal(&target), "\0");
    assert!(text.contains("--ca-file FILE") && class == ErrorClass::Tls, "{text}");
    let authority = server.authority().unwrap().display();
    let other_name = target.replace("localhost", "127.0.0.1");
    let (text, class) = told(&refusal(&format!("{other_name}#ca-file={authority}")), "\0");
    assert!(text.contains("another name") && class == ErrorClass::Tls, "{text}");
    let trusted = backend(&format!("{target}#ca-file={authority}"));
    let mut session = open(trusted.as_ref());
    assert!(session.marks().iter().any(|mark| mark.operation == Operation::CallTls), "{:?}", session.marks());
    assert_eq!(ask(session.as_mut(), Operation::MakeDirectory, 0, 0).0, FailureCode::NONE);
    drop(session);
    assert_eq!(trusted.remove_place().unwrap(), []);
}

#[test]
fn a_certificate_that_is_out_of_date_is_told() {
    let Some(server) = S3Server::start_with_tls("DNS:localhost", -1) else { return };
    let authority = server.authority().unwrap().display().to_string();
    let (text, class) = told(&refusal(&format!("{},ca-file={authority}", server.target("x"))), "gehe");
    assert!(text.contains("out of date") && class == ErrorClass::Tls, "{text}");
}

#[test]
fn half_an_answer_a_reset_and_a_server_that_is_gone_are_failures_of_their_kind() {
    let Some(mut server) = S3Server::start() else { return };
    let proxy = Proxy::start(server.port());
    let target = server.target("x").replace(&server.port().to_string(), &proxy.port().to_string());
    let backend = backend(&target);
    let mut session = open(backend.as_ref());
    assert_eq!(ask(session.as_mut(), Operation::Create, 0, 4096).0, FailureCode::NONE);
    proxy.set(ProxyFault::EndAfter(2000));
    let (code, message) = ask(session.as_mut(), Operation::Read, 0, 4096);
    assert_eq!(code, FailureCode::SHORT, "{message:?}");
    assert!(message.unwrap().contains("in the middle of its answer"));
    proxy.set(ProxyFault::CutAfter(0));
    let (code, message) = ask(session.as_mut(), Operation::Read, 0, 4096);
    assert_eq!(code.class(), ErrorClass::Connection, "{message:?}");
    proxy.set(ProxyFault::Drip(Duration::from_micros(10)));
    assert_eq!(ask(session.as_mut(), Operation::Read, 0, 4096).0, FailureCode::NONE, "slow is no failure");
    proxy.set(ProxyFault::None);
    server.kill();
    assert_eq!(ask(session.as_mut(), Operation::Read, 0, 4096).0.class(), ErrorClass::Connection);
}

#[test]
fn a_busy_server_says_how_long_to_wait_and_nobody_follows_it_elsewhere() {
    let Some(server) = WebServer::start() else { return };
    let named = |path: &str| {
        let mut names = iolag_backend::NameTable::default();
        names.push("x");
        let names = Some(std::sync::Arc::new(names));
        let options = SessionOptions { names, ..SessionOptions::new(ClientId(0), 0, 1, 4096) };
        let backend = backend(&server.target("http", path));
        let mut session = backend.open_session(&options).unwrap();
        let request = Request::new(Operation::Read, ObjectKey::named(0), Request::TO_THE_END);
        session.prepare(&request);
        let completion = session.execute(&request);
        (completion.code, session.message().unwrap_or_default())
    };
    let (code, message) = named("busy");
    assert_eq!(code.class(), ErrorClass::Throttled);
    assert!(message.ends_with("the server asks to wait 7 s"), "{message}");
    let (code, message) = named("moved");
    assert_eq!(code.origin(), FailureOrigin::Http(302));
    assert!(message.contains("which is not followed"), "{message}");
    assert_eq!(named("private").0.class(), ErrorClass::Permission);
    let login = server
        .target("http", "private")
        .replace("://", &format!("://{}:{}@", WebServer::USER, WebServer::PASSWORD));
    std::fs::write(server.data().join("private/x"), "hello").unwrap();
    assert!(!Target::parse(&login).unwrap().to_string().contains(WebServer::PASSWORD));
    assert_eq!(named("dav").0.class(), ErrorClass::NotFound);
}

#[test]
fn a_database_says_why_it_does_not_let_us_in() {
    let Some(server) = PostgresServer::start() else { return };
    let url = server.url("postgres");
    let wrong = url.replace(&PostgresServer::encoded_password(), "falsch");
    let (text, class) = told(&refusal(&wrong), "falsch");
    assert!(text.contains("~/.pgpass") && class == ErrorClass::Permission, "{class}: {text}");
    let (text, class) = told(&refusal(&server.url("nowhere")), PostgresServer::PASSWORD);
    assert!(text.contains("createdb") && class == ErrorClass::NotFound, "{class}: {text}");
    server.ask("postgres", "CREATE ROLE guest LOGIN PASSWORD 'gast'");
    server.ask("postgres", "CREATE DATABASE strict");
    server.ask("strict", "REVOKE CREATE ON SCHEMA public FROM PUBLIC");
    let guest = format!("postgres://guest:gast@127.0.0.1:{}/strict", server.port());
    let (text, class) = told(&refusal(&guest), "gast@");
    assert!(text.contains("search_path") && class == ErrorClass::Permission, "{class}: {text}");
}

#[test]
fn a_connection_that_the_database_ended_is_made_again_by_the_next_request() {
    let Some(server) = PostgresServer::start() else { return };
    let backend = backend(&server.url("postgres"));
    let mut session = open(backend.as_ref());
    assert_eq!(ask(session.as_mut(), Operation::Create, 0, 100).0, FailureCode::NONE);
    server.ask(
        "postgres",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'iolag'",
    );
    // It may be noticed before the request, or by it.
    let (code, _) = ask(session.as_mut(), Operation::Stat, 0, 100);
    assert!(matches!(code.class(), ErrorClass::None | ErrorClass::Server | ErrorClass::Connection), "{code}");
    assert_eq!(ask(session.as_mut(), Operation::Stat, 0, 100).0, FailureCode::NONE);
    drop(session);
    assert_eq!(backend.remove_place().unwrap(), []);
}
