//! Metrics for other machines: over TLS, for those who may ask, and nothing else of what the page shows.
//!
//! Strangers have a pool of connections of their own, and only who was admitted counts as having asked. The files are read again by
//! a child: a renewed certificate or token needs no restart, and a disk that hangs keeps no answer back.

use std::cell::RefCell;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::service::{Service, service_fn};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, spawn_local};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use crate::serve::attended::ask_child;
use crate::serve::door::admission::{Admission, AdmissionFiles, AdmissionTexts};
use crate::serve::door::answering::{accept, answer, bind};
use crate::serve::door::connections::{Connection, Connections};
use crate::serve::routes::not_admitted;
use iolag_conduct::Failure;

/// Connections at once; one more takes the place of another.
pub(super) const CONNECTIONS_MAX: usize = 64;
/// Who has not shown by then who it is, is left.
const HANDSHAKE_MAX: Duration = Duration::from_secs(10);
/// Between two looks at the files.
const LOOK: Duration = Duration::from_secs(10);

/// Where other machines get metrics, and which of them.
#[derive(Clone)]
pub struct Elsewhere {
    /// Where to listen.
    pub listen: SocketAddr,
    /// What says who may ask.
    pub files: AdmissionFiles,
    /// What was in these files.
    pub texts: AdmissionTexts,
}

/// Who is admitted by now.
type Current = Rc<RefCell<Rc<Admission>>>;

/// The way in for other machines.
pub(super) struct Door {
    listener: TcpListener,
    elsewhere: Elsewhere,
    current: Current,
}

impl Door {
    /// # Errors
    /// If the files are of no use, or the address cannot be listened on.
    pub(super) async fn open(elsewhere: &Elsewhere) -> Result<Self, Failure> {
        let admission = elsewhere.files.admission(&elsewhere.texts).map_err(Failure::usage)?;
        let listener = bind(elsewhere.listen, "--metrics-listen ADDRESS:PORT").await?;
        Ok(Self {
            listener,
            elsewhere: elsewhere.clone(),
            current: Rc::new(RefCell::new(Rc::new(admission))),
        })
    }

    /// Where it is; the system may have chosen the port.
    pub(super) fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers with `router`, and looks at the files now and then; `complain` is told what is wrong with them.
    pub(super) fn attend(
        self,
        router: Router,
        connections: Rc<Connections>,
        complain: fn(&str),
    ) -> [JoinHandle<()>; 2] {
        let Self { listener, elsewhere, current } = self;
        let renewing = renew(elsewhere, Rc::clone(&current), complain);
        let accepting = accept(listener, connections, move |stream, connection| {
            answer_admitted(stream, router.clone(), Rc::clone(&current), connection)
        });
        [spawn_local(accepting), spawn_local(renewing)]
    }
}

async fn answer_admitted(stream: TcpStream, router: Router, current: Current, connection: Rc<Connection>) {
    let tls = current.borrow().tls();
    let handshake = timeout(HANDSHAKE_MAX, TlsAcceptor::from(tls).accept(stream));
    // Who speaks no TLS, or shows no certificate, concerns nobody else.
    let Ok(Ok(stream)) = handshake.await else { return };
    let router = TowerToHyperService::new(router);
    let service = service_fn(|request: Request<Incoming>| {
        // Who is admitted may have changed since the connection began.
        let is_admitted = current.borrow().admits(request.headers());
        let answer = is_admitted.then(|| {
            connection.asked();
            router.call(request)
        });
        async {
            match answer {
                Some(answer) => answer.await,
                None => Ok::<_, Infallible>(not_admitted()),
            }
        }
    });
    answer(stream, service).await;
}

/// Reads the files again and again. While they are of no use, what they came to before stays.
async fn renew(elsewhere: Elsewhere, current: Current, complain: fn(&str)) {
    let Elsewhere { files, texts, .. } = elsewhere;
    let (mut latest, mut is_in_trouble) = (Ok(texts), false);
    loop {
        sleep(LOOK).await;
        let found = read_again(&files).await;
        if found == latest {
            continue;
        }
        match found.as_ref().map_err(String::clone).and_then(|texts| files.admission(texts)) {
            Ok(admission) => {
                *current.borrow_mut() = Rc::new(admission);
                if is_in_trouble {
                    complain("the files for --metrics-listen can be used again");
                }
                is_in_trouble = false;
            }
            Err(sentence) => {
                complain(&format!("{sentence}; what was read before still holds"));
                is_in_trouble = true;
            }
        }
        latest = found;
    }
}

async fn read_again(files: &AdmissionFiles) -> Result<AdmissionTexts, String> {
    let read =
        || files.read().and_then(|texts| serde_json::to_vec(&texts).map_err(|error| error.to_string()));
    let told = ask_child("admission", "a file for --metrics-listen", read).await?;
    serde_json::from_slice(&told).map_err(|error| error.to_string())
}
