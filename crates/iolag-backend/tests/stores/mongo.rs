//! MongoDB's protocol, spoken with FerretDB: a real server, but not mongod.

use std::sync::Arc;
use std::time::{Duration, Instant};

use iolag_backend::conformance::{Planted, conformance_with_foreign, maker};
use iolag_backend::{BackendError, ObjectKey, Request, SessionOptions, TagTable};
use iolag_fixtures::{MongoServer, Proxy, ProxyFault, WebServer};
use iolag_model::{ClientId, Connections, ErrorClass, FailureCode, Operation, TagKind};
use mongodb::bson::{Document, doc};
use mongodb::{Client, Database};
use tokio::runtime::Handle;

use crate::failing::{ask, open, told};
use crate::{Fresh, backend, refusal};

/// Does something in a database as somebody else does.
fn elsewhere<T>(address: &str, work: impl AsyncFnOnce(Database) -> mongodb::error::Result<T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (server, database) = address.split('#').next().unwrap().rsplit_once('/').unwrap();
    runtime.block_on(async { work(Client::with_uri_str(server).await?.database(database)).await }).unwrap()
}

fn database_conforms(collections: &str) {
    let Some(server) = MongoServer::start() else { return };
    let fresh = Fresh::default();
    let make = || backend(&format!("{}#collections={collections}", server.target(&fresh.next())));
    conformance_with_foreign(make, |place| {
        let objects = if collections == "one" { "iolag-work.objects" } else { "iolag-work.0_0" };
        elsewhere(&place.target, async |database| {
            let notes = database.collection::<Document>("iolag-work.notes");
            notes.insert_one(doc! { "_id": "mine" }).await?;
            let objects = database.collection::<Document>(objects);
            objects.insert_one(doc! { "_id": "0_0/notes.txt" }).await
        });
        Planted { beside: 1, in_dataset: 1 }
    });
}

#[test]
fn a_database_with_one_collection_conforms() {
    database_conforms("one");
}

#[test]
fn a_database_with_a_collection_for_each_dataset_conforms() {
    database_conforms("dataset");
}

/// The driver gives up a server soon, and notices that one is gone by nothing but a request.
fn impatient(target: &str) -> String {
    format!("{target}?serverSelectionTimeoutMS=2000&heartbeatFrequencyMS=60000")
}

#[test]
fn a_server_that_is_not_there_is_told_at_once() {
    let start = Instant::now();
    let (text, class) = told(&refusal("mongodb://127.0.0.1:1/x"), "\0");
    assert!(text.contains("cannot connect to 127.0.0.1:1: Connection refused; check the port"), "{text}");
    assert!(
        class == ErrorClass::Connection && start.elapsed() < Duration::from_secs(4),
        "{:?}",
        start.elapsed()
    );
    let (text, class) = told(&refusal("mongodb://no-such-host.invalid/x"), "\0");
    assert!(text.contains("cannot resolve the name no-such-host.invalid"), "{text}");
    assert_eq!(class, ErrorClass::NameResolution);
}

#[test]
fn a_server_that_says_nothing_is_given_up_in_the_time_told() {
    let Some(server) = MongoServer::start() else { return };
    let proxy = Proxy::start(server.port());
    proxy.set(ProxyFault::Stall);
    let start = Instant::now();
    let target = format!("mongodb://127.0.0.1:{}/x?serverSelectionTimeoutMS=300", proxy.port());
    let (text, class) = told(&refusal(&target), "\0");
    assert!(text.contains("found no server") && class == ErrorClass::TimedOut, "{class}: {text}");
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
}

#[test]
fn who_is_not_let_in_is_told_what_to_do() {
    let Some(server) = MongoServer::start() else { return };
    let target = server.target("x").replace("://", "://me:gehe%2Fim@");
    let (text, class) = told(&refusal(&target), "gehe");
    assert!(text.contains("MONGODB_URI") && class == ErrorClass::Permission, "{class}: {text}");
    let (text, class) = told(&refusal(&target.replace(":gehe%2Fim@", "@")), "\0");
    assert!(text.contains("the password of me is not known; check"), "{text}");
    assert_eq!(class, ErrorClass::Permission);
}

#[test]
fn another_database_has_no_working_set_and_one_that_cannot_be_is_told_by_the_server() {
    let Some(server) = MongoServer::start() else { return };
    let made = backend(&server.target("x"));
    drop(open(made.as_ref()));
    let error = backend(&server.target("y")).reopen_place().unwrap_err();
    assert!(matches!(error, BackendError::NoWorkingSet { .. }), "{error}");
    assert_eq!(made.remove_place().unwrap(), []);
    let (text, _) = told(&refusal(&server.target("a+b")), "\0");
    assert!(text.contains("error 73 InvalidNamespace"), "{text}");
}

#[test]
fn a_server_that_is_killed_fails_requests_and_answers_again_when_it_is_back() {
    let Some(mut server) = MongoServer::start() else { return };
    let backend = backend(&impatient(&server.target("x")));
    let mut session = open(backend.as_ref());
    let mut read = || ask(session.as_mut(), Operation::Read, 0, 100);
    assert_eq!(read().0.class(), ErrorClass::NotFound);
    server.kill();
    let (code, said) = read();
    assert_eq!(code.class(), ErrorClass::Connection, "{said:?}");
    let (code, said) = read();
    assert_eq!(code.errno(), Some(111), "{said:?}");
    assert!(said.unwrap().contains("is not there: Connection refused"));
    server.restart();
    assert_eq!(read().0.class(), ErrorClass::NotFound);
    server.kill();
    server.restart();
    // A driver that asks again would have got an answer.
    let (code, said) = read();
    assert_eq!(code.class(), ErrorClass::Connection, "{said:?}");
    assert_eq!(read().0.class(), ErrorClass::NotFound);
    drop(session);
    assert_eq!(backend.remove_place().unwrap(), []);
}

#[test]
fn a_certificate_says_what_to_do() {
    let Some(server) = WebServer::start_with_tls("DNS:localhost", 10) else { return };
    let port = server
        .target("dav", "x")
        .split(['/', ':'])
        .find(|part| part.parse::<u16>().is_ok())
        .unwrap()
        .to_owned();
    let target = format!("mongodb://localhost:{port}/x?tls=true&serverSelectionTimeoutMS=1000");
    let (text, class) = told(&refusal(&target), "\0");
    assert!(text.contains("--ca-file FILE") && class == ErrorClass::Tls, "{class}: {text}");
    let trusting = format!("{target}#ca-file={}", server.authority().unwrap().display());
    // It is a server of something else.
    let (text, class) = told(&refusal(&trusting), "\0");
    assert!(class != ErrorClass::Tls, "{class}: {text}");
}

#[test]
fn what_does_not_fit_into_a_document_is_refused() {
    let Some(server) = MongoServer::start() else { return };
    let backend = backend(&server.target("x"));
    let mut session = open(backend.as_ref());
    let (code, said) = ask(session.as_mut(), Operation::Create, 0, 17 << 20);
    assert_eq!(code.errno(), Some(27), "{said:?}");
    assert!(said.unwrap().contains("use --object-size of at most 16776192 bytes"));
    let options = SessionOptions::new(ClientId(0), 0, 1, 17 << 20);
    let (text, _) = told(&backend.open_session(&options).err().unwrap(), "\0");
    assert!(text.contains("do not fit into a document"), "{text}");
    let (code, said) = ask(session.as_mut(), Operation::Create, 0, (16 << 20) - 1024);
    assert_eq!(code, FailureCode::NONE, "{said:?}");
}

#[test]
fn a_server_says_what_it_is_and_a_request_who_answered_it_and_when() {
    let Some(server) = MongoServer::start() else { return };
    let backend = backend(&server.target("x"));
    let greeting = backend.greet().unwrap().unwrap();
    // Embedded, it does not know its version.
    assert_eq!(greeting.software.as_deref(), Some("FerretDB"));
    let address = format!("127.0.0.1:{}", server.port());
    assert_eq!(greeting.address.as_ref(), Some(&address));
    assert!(greeting.remark.unwrap().contains("neither its speed nor its durability is that of mongod"));
    let parts: Vec<_> = greeting.parts.iter().map(|part| part.operation).collect();
    assert_eq!(parts, [Operation::CallConnect, Operation::CallFirstByte]);
    backend.create_place(&maker()).unwrap();
    let is_server = move |kind, name: &str| (kind == TagKind::Server && name == address).then_some(7);
    let tags = Arc::new(TagTable::new(is_server));
    let options = SessionOptions { tags: Some(tags), ..SessionOptions::new(ClientId(0), 0, 1, 4096) };
    let mut session = backend.open_session(&options).unwrap();
    let request = Request::new(Operation::Create, ObjectKey::default(), 4096);
    session.prepare(&request);
    let completion = session.execute(&request);
    let completion = session.inspect(&request, completion);
    assert!(completion.is_ok() && completion.tag == 7, "{completion:?}");
    let marks: Vec<_> = session.marks().iter().map(|mark| mark.operation).collect();
    assert_eq!(marks, [Operation::CallFirstByte]);
}

#[test]
fn nothing_is_left_of_a_driver_that_is_over() {
    let Some(server) = MongoServer::start() else { return };
    let proxy = Proxy::start(server.port());
    let backend = backend(&format!("mongodb://127.0.0.1:{}/x", proxy.port()));
    backend.create_place(&maker()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for connections in [Connections::Fresh, Connections::Reused] {
        let options = SessionOptions { connections, ..SessionOptions::new(ClientId(0), 0, 1, 4096) };
        let before = proxy.connections();
        runtime.block_on(async {
            let mut session = backend.open_async_session(&options).unwrap().await.unwrap();
            let opened = proxy.connections();
            for index in 0..10 {
                let request =
                    Request::new(Operation::Create, ObjectKey { index, ..ObjectKey::default() }, 100);
                session.prepare(&request);
                let completion = session.execute(&request).await;
                assert!(session.inspect(&request, completion).is_ok());
            }
            let made = proxy.connections() - opened;
            match connections {
                // One that looks at the server, and one that asks.
                Connections::Fresh => assert!(made >= 20, "{made}"),
                Connections::Reused => assert_eq!(made, 0, "{before}"),
            }
            // One is dropped in the middle.
            let request = Request::new(Operation::Read, ObjectKey::default(), 100);
            session.prepare(&request);
            let _ = tokio::time::timeout(Duration::from_micros(10), session.execute(&request)).await;
            drop(session);
            let start = Instant::now();
            while Handle::current().metrics().num_alive_tasks() > 0 {
                assert!(
                    start.elapsed() < Duration::from_secs(5),
                    "{}",
                    Handle::current().metrics().num_alive_tasks()
                );
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        });
    }
    assert_eq!(backend.remove_place().unwrap(), []);
}
