//! Starts servers of the tests by hand, tells the target of each, and ends them when it is told to end.
#![expect(clippy::print_stdout, reason = "this program talks to the developer at its terminal")]

use std::any::Any;
use std::process::ExitCode;

use iolag_fixtures::{MongoServer, PostgresServer, S3Server, WebServer};

/// What can be started: its name, and what starts it and knows its target.
type Component = (&'static str, fn() -> Option<(Box<dyn Any>, String)>);

const COMPONENTS: &[Component] = &[
    ("postgres", || PostgresServer::start().map(|server| with(server, |server| server.url("postgres")))),
    ("s3", || S3Server::start().map(|server| with(server, |server| server.target("")))),
    ("webdav", || WebServer::start().map(|server| with(server, |server| server.target("dav", "dav")))),
    ("webdav-tls", || {
        let server = WebServer::start_with_tls("DNS:localhost", 10)?;
        let authority = server.authority()?.display().to_string();
        Some(with(server, |server| format!("{}#ca-file={authority}", server.target("dav", "dav"))))
    }),
    ("mongodb", || MongoServer::start().map(|server| with(server, |server| server.target("iolag")))),
];

fn with<S: Any>(server: S, target: impl Fn(&S) -> String) -> (Box<dyn Any>, String) {
    let target = target(&server);
    (Box::new(server), target)
}

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let known: Vec<&str> = COMPONENTS.iter().map(|(name, _)| *name).collect();
    if names.is_empty() || names.iter().any(|name| !known.contains(&name.as_str())) {
        println!("expected some of: {}", known.join(", "));
        return ExitCode::FAILURE;
    }
    // Before anything is started, so that everything that was is ended.
    let ending = block_ending();
    let mut running = Vec::new();
    for name in &names {
        let Some(started) = COMPONENTS.iter().find(|(known, _)| known == name).and_then(|(_, start)| start())
        else {
            return ExitCode::FAILURE;
        };
        println!("{name}: '{}'", started.1);
        running.push(started);
    }
    println!("Ctrl-C ends what was started here");
    let mut signal = 0;
    // SAFETY: both point to what this function owns.
    unsafe { libc::sigwait(&raw const ending, &raw mut signal) };
    drop(running);
    ExitCode::SUCCESS
}

/// The signals that end programs wait from now on until they are asked for.
fn block_ending() -> libc::sigset_t {
    // SAFETY: a set of signals is plain data, made empty before it is used.
    unsafe {
        let mut ending = std::mem::zeroed();
        libc::sigemptyset(&raw mut ending);
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            libc::sigaddset(&raw mut ending, signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const ending, std::ptr::null_mut());
        ending
    }
}
