//! One client's connection to a database, opened by ourselves, so that each part of it is known, and worked on by the task that waits.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use iolag_model::{Clock, FailureCode, Mark, MonotonicClock, MonotonicTime, Operation};
use iolag_net::postgres::{Address, connector};
use iolag_net::{Protection, Stream, Way, code_of, error_chain};
use tokio::net::UnixStream;
use tokio_postgres::config::Host;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, Error, NoTls, Row};

use crate::servers::{Driven, FirstByte, Timed};

/// What a connection goes through.
type Wire = Timed<Stream>;

type Driver = Driven<dyn Future<Output = Result<(), Error>> + Send>;

/// A connection that is open.
pub(super) struct Link {
    pub(super) client: Client,
    driver: Driver,
    pub(super) first_byte: FirstByte,
    /// Whom it goes to, and from which port.
    pub(super) server: String,
    pub(super) own_port: Option<u16>,
}

/// Why there is no connection, or no answer.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) code: FailureCode,
    pub(super) said: String,
}

impl Link {
    /// Connects to the first host that takes us; the parts go to `marks`.
    pub(super) async fn open(address: &Address, marks: &mut Vec<Mark>) -> Result<Self, Failed> {
        let hosts = address.config.get_hosts();
        let mut refused = None;
        for (index, host) in hosts.iter().enumerate() {
            match Self::open_at(address, (index, host), marks).await {
                Ok(link) => return Ok(link),
                Err(failed) => refused = Some(failed),
            }
        }
        Err(refused
            .unwrap_or_else(|| Failed { code: FailureCode::PROTOCOL, said: "it names no host".to_owned() }))
    }

    async fn open_at(
        address: &Address,
        (index, host): (usize, &Host),
        marks: &mut Vec<Mark>,
    ) -> Result<Self, Failed> {
        let ports = address.config.get_ports();
        // As the library does: one port for all hosts, or one for each.
        let port = ports.get(index).or(ports.first()).copied().unwrap_or(5432);
        let first_byte = FirstByte::default();
        let (stream, server, own_port, name) = match host {
            Host::Tcp(name) => {
                let way = match address.config.get_hostaddrs().get(index) {
                    Some(numbers) => Way::plain(&numbers.to_string(), port),
                    None => Way::plain(name, port),
                };
                let stream = way
                    .connect(&MonotonicClock, marks)
                    .await
                    .map_err(|unreached| Failed { code: unreached.code, said: unreached.said })?;
                let own_port =
                    stream.tcp().and_then(|stream| stream.local_addr().ok()).map(|address| address.port());
                (stream, way.to_string(), own_port, name.clone())
            }
            Host::Unix(directory) => {
                let path = directory.join(format!(".s.PGSQL.{port}"));
                let start = MonotonicClock.now();
                let connected = UnixStream::connect(&path).await;
                let duration = MonotonicClock.now().since(start);
                marks.push(Mark { operation: Operation::CallConnect, start, duration });
                let shown = path.display().to_string();
                let stream = connected.map_err(|error| Failed {
                    code: code_of(&error),
                    said: format!("cannot connect to {shown}: {error}"),
                })?;
                (Stream::Local(stream), shown, None, String::new())
            }
        };
        let greeted = greet(address, Timed::new(stream, first_byte.clone()), &name, marks).await;
        let (client, driver) = greeted.map_err(|error| refused(address, error.as_ref()))?;
        Ok(Self { client, driver, first_byte, server, own_port })
    }

    /// Who asks, and who waits for the answer.
    pub(super) fn halves(&mut self) -> (&Client, Answers<'_>) {
        (&self.client, Answers { driver: &mut self.driver, server: &self.server })
    }

    /// The rows of a statement that the server gets with its parameters.
    pub(super) async fn rows(
        &mut self,
        text: &str,
        parameters: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<Vec<Row>, Failed> {
        let (client, answers) = self.halves();
        answers.to(client.query_typed(text, parameters)).await
    }

    /// Executes statements without parameters.
    pub(super) async fn run(&mut self, text: &str) -> Result<(), Failed> {
        let (client, answers) = self.halves();
        answers.to(client.batch_execute(text)).await
    }

    /// Whether the server has ended it.
    pub(super) async fn has_ended(&mut self) -> bool {
        self.driver.has_ended().await || self.client.is_closed()
    }
}

/// Who works on a connection while its client waits.
pub(super) struct Answers<'a> {
    driver: &'a mut Driver,
    server: &'a str,
}

impl Answers<'_> {
    /// The answer to what the client asks.
    pub(super) async fn to<T>(self, asked: impl Future<Output = Result<T, Error>>) -> Result<T, Failed> {
        match self.driver.wait_for(asked).await {
            Some(answer) => answer.map_err(|error| Failed::of(&error)),
            None => Err(Failed {
                code: FailureCode::from_errno(libc::ECONNRESET),
                said: format!("{} ended the connection", self.server),
            }),
        }
    }
}

async fn greet(
    address: &Address,
    wire: Wire,
    name: &str,
    marks: &mut Vec<Mark>,
) -> Result<(Client, Driver), Box<dyn std::error::Error + Send + Sync>> {
    if address.protection == Protection::None {
        let (client, driver) = address.config.connect_raw(wire, NoTls).await?;
        return Ok((client, Driven::new(Box::pin(driver))));
    }
    let mut connector = connector(&address.protection)?;
    let span = Span::default();
    let tls = MakeTlsConnect::<Wire>::make_tls_connect(&mut connector, name)?;
    let connected =
        connect_protected(&address.config, wire, TimedTls { inner: tls, span: span.clone() }).await;
    let span = *span.lock().unwrap_or_else(PoisonError::into_inner);
    marks.extend(span.map(|(start, end)| Mark {
        operation: Operation::CallTls,
        start,
        duration: end.since(start),
    }));
    connected
}

async fn connect_protected<T>(
    config: &Config,
    wire: Wire,
    tls: TimedTls<T>,
) -> Result<(Client, Driver), Box<dyn std::error::Error + Send + Sync>>
where
    T: TlsConnect<Wire>,
    T::Stream: Send + 'static,
    T::Future: Send + 'static,
{
    let (client, driver) = config.connect_raw(wire, tls).await?;
    Ok((client, Driven::new(Box::pin(driver))))
}

type Span = Arc<Mutex<Option<(MonotonicTime, MonotonicTime)>>>;

/// Notes when a connection was being protected.
struct TimedTls<T> {
    inner: T,
    span: Span,
}

impl<S, T: TlsConnect<S>> TlsConnect<S> for TimedTls<T>
where
    T::Future: Send + 'static,
{
    type Stream = T::Stream;
    type Error = T::Error;
    type Future = Pin<Box<dyn Future<Output = Result<T::Stream, T::Error>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        let start = MonotonicClock.now();
        let protecting = self.inner.connect(stream);
        Box::pin(async move {
            let protected = protecting.await;
            *self.span.lock().unwrap_or_else(PoisonError::into_inner) = Some((start, MonotonicClock.now()));
            protected
        })
    }
}

impl Failed {
    /// By what the server says, or the connection.
    pub(super) fn of(error: &Error) -> Self {
        if let Some(said) = error.as_db_error() {
            let state = said.code().code();
            let code = match state {
                // What the class does not tell: no such table, there is one already, no right to it.
                "42P01" | "3F000" => FailureCode::from_errno(libc::ENOENT),
                "42P07" => FailureCode::from_errno(libc::EEXIST),
                "42501" => FailureCode::from_errno(libc::EACCES),
                "53100" => FailureCode::from_errno(libc::ENOSPC),
                _ => match state.as_bytes() {
                    [first, second, ..] => FailureCode::sql_state([*first, *second]),
                    _ => FailureCode::PROTOCOL,
                },
            };
            return Self { code, said: format!("{state}: {}", said.message()) };
        }
        let mut cause = std::error::Error::source(error);
        while let Some(inner) = cause {
            if let Some(inner) = inner.downcast_ref::<std::io::Error>() {
                return Self { code: code_of(inner), said: error_chain(error) };
            }
            cause = inner.source();
        }
        let code =
            if error.is_closed() { FailureCode::from_errno(libc::ECONNRESET) } else { FailureCode::PROTOCOL };
        Self { code, said: error_chain(error) }
    }
}

/// Why a server that was reached does not let us in, with what to do.
fn refused(address: &Address, error: &(dyn std::error::Error + Send + Sync + 'static)) -> Failed {
    let Some(known) = error.downcast_ref::<Error>() else {
        return Failed { code: FailureCode::tls(40), said: error.to_string() };
    };
    let mut failed = Failed::of(known);
    let lacks_password = failed.said.contains("password missing");
    if failed.said.contains("certificate") || failed.said.contains("TLS") {
        failed.code = FailureCode::tls(40);
    }
    if lacks_password {
        failed.code = FailureCode::sql_state(*b"28");
    }
    let advice = if lacks_password || failed.said.starts_with("28") {
        address.password_hint.clone().unwrap_or_else(|| {
            "check the user, put the password into ~/.pgpass or PGPASSWORD, and see pg_hba.conf of the server".to_owned()
        })
    } else if failed.said.starts_with("3D") {
        "make it on the server with createdb".to_owned()
    } else if failed.said.starts_with("53300") {
        "use fewer clients, or raise max_connections of the server".to_owned()
    } else if failed.said.contains("certificate") || failed.said.contains("TLS") {
        "name the site's authority with ?sslrootcert=FILE, or see docs/history.md on sslmode".to_owned()
    } else {
        return failed;
    };
    failed.said = format!("{}; {advice}", failed.said);
    failed
}
