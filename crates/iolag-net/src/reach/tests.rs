use std::net::{Ipv4Addr, TcpListener};

use iolag_model::{Clock, ErrorClass, FailureCode, FailureOrigin, MonotonicClock};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::{Builder, Runtime};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use super::*;
use crate::Protection;

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn operations(marks: &[Mark]) -> Vec<Operation> {
    marks.iter().map(|mark| mark.operation).collect()
}

#[test]
fn each_part_of_coming_to_a_server_is_a_mark() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let (mut named, mut numbered) = (Vec::new(), Vec::new());
    let begin = MonotonicClock.now();
    runtime().block_on(async {
        Way::plain("localhost", port).connect(&MonotonicClock, &mut named).await.unwrap();
        Way::plain("127.0.0.1", port).connect(&MonotonicClock, &mut numbered).await.unwrap();
    });
    assert_eq!(operations(&named), [Operation::CallResolve, Operation::CallConnect]);
    assert_eq!(operations(&numbered), [Operation::CallConnect]);
    let moments: Vec<_> =
        named.iter().flat_map(|mark| [mark.start, mark.start.after(mark.duration)]).collect();
    assert!(moments.is_sorted() && moments[0] >= begin, "{named:?}");
}

#[test]
fn what_fails_says_in_which_part_and_has_its_time() {
    let closed = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
    let failed = |host: &str, port| {
        let mut marks = Vec::new();
        let error =
            runtime().block_on(Way::plain(host, port).connect(&MonotonicClock, &mut marks)).unwrap_err();
        (error, operations(&marks))
    };
    let (error, marks) = failed("no-such-host.invalid", 1);
    assert_eq!((error.part, marks), (Operation::CallResolve, vec![Operation::CallResolve]));
    assert!(matches!(error.code.origin(), FailureOrigin::Resolution(_)), "{error:?}");
    let (error, marks) = failed("127.0.0.1", closed);
    assert_eq!((error.part, marks), (Operation::CallConnect, vec![Operation::CallConnect]));
    assert_eq!(error.code, FailureCode::from_errno(libc::ECONNREFUSED));
    assert_eq!(
        error.to_string(),
        format!(
            "cannot connect to 127.0.0.1:{closed}: Connection refused; check the port, and that the server runs"
        )
    );
}

#[test]
fn a_connection_that_is_given_up_leaves_the_parts_that_it_had() {
    // Nobody accepts, and nobody answers what TLS asks.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let config = Protection::Encrypted.client_config("--ca-file FILE").unwrap();
    let way = Way::protected("127.0.0.1", port, Arc::new(config)).unwrap();
    let mut marks = Vec::new();
    let patience = Duration::from_millis(200);
    let given_up = runtime().block_on(async {
        tokio::time::timeout(patience, way.connect(&MonotonicClock, &mut marks)).await.is_err()
    });
    assert!(given_up);
    assert_eq!(operations(&marks), [Operation::CallConnect]);
}

/// Serves one connection of TLS on the loopback, by a certificate for this name; the port, and the certificate in PEM.
fn serve(name: &str) -> (u16, String) {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed([name.to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        runtime().block_on(async {
            listener.set_nonblocking(true).unwrap();
            let (stream, _) = tokio::net::TcpListener::from_std(listener).unwrap().accept().await.unwrap();
            let Ok(mut stream) = TlsAcceptor::from(Arc::new(config)).accept(stream).await else { return };
            stream.write_all(b"hello").await.unwrap();
            let _ = stream.shutdown().await;
        });
    });
    (port, cert.pem())
}

#[test]
fn a_server_is_trusted_by_its_authority_and_its_name() {
    let place = tempfile::tempdir().unwrap();
    let connected = |name: &str, asked: &str, is_known: bool| {
        let (port, certificate) = serve(name);
        let file = place.path().join("ca.pem");
        std::fs::write(&file, certificate).unwrap();
        let protection = if is_known { Protection::Full(Some(file)) } else { Protection::Full(None) };
        let config = match protection.client_config("--ca-file FILE") {
            Ok(config) => config,
            // A system without any authority trusts nobody, either.
            Err(said) => return Err((ErrorClass::Tls, said)),
        };
        let way = Way::protected(asked, port, Arc::new(config)).unwrap();
        let mut marks = Vec::new();
        runtime().block_on(async {
            let mut stream = way
                .connect(&MonotonicClock, &mut marks)
                .await
                .map_err(|error| (error.code.class(), error.to_string()))?;
            let mut said = String::new();
            stream.read_to_string(&mut said).await.unwrap();
            assert_eq!(said, "hello");
            assert_eq!(marks.last().unwrap().operation, Operation::CallTls);
            Ok(stream.tls_version().unwrap())
        })
    };
    assert_eq!(connected("localhost", "localhost", true), Ok("TLS 1.3"));
    let (class, said) = connected("other.example", "localhost", true).unwrap_err();
    assert!(class == ErrorClass::Tls && said.contains("another name"), "{said}");
    let (class, said) = connected("localhost", "localhost", false).unwrap_err();
    assert!(class == ErrorClass::Tls && said.contains("--ca-file FILE"), "{said}");
}

#[test]
fn who_speaks_no_tls_is_told() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 1024]);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    let config = Protection::Encrypted.client_config("--ca-file FILE").unwrap();
    let way = Way::protected("127.0.0.1", port, Arc::new(config)).unwrap();
    let error = runtime().block_on(way.connect(&MonotonicClock, &mut Vec::new())).unwrap_err();
    assert!(
        error.code.class() == ErrorClass::Tls && error.to_string().contains("does not speak TLS"),
        "{error}"
    );
}
