//! `iolag serve`: what a watch does and has found out, in a browser and for monitoring systems.

use std::net::SocketAddr;
use std::sync::Arc;

use iolag_conduct::{Answer, ExitCode, Failure, ask, become_keeper, leave_current_directory};
use iolag_model::Nanoseconds;
use iolag_store::history::{is_server, shown_place};

use crate::args::{Common, MetricsElsewhere, Serve};
use crate::commands::history::access::{Chosen, here};
use crate::commands::history::page::live_document;
use crate::commands::watch::find_places;
use crate::commands::{store_of, typed};
use crate::output;
use crate::serve::{AdmissionFiles, Elsewhere, Listening, Serving, serve, tunnel_advice};

/// How long the files of the time zone may take, and those of certificates.
const FILES_DEADLINE: Nanoseconds = Nanoseconds::from_seconds(15);

/// Serves until Ctrl-C.
///
/// # Errors
/// If the configuration cannot be read, or the address cannot be listened on. A history that is not there, or does not answer, is
/// said on the page: it may come.
pub fn run(options: &Serve, common: &Common) -> Result<ExitCode, Failure> {
    output::refuse_document(common, "serve")?;
    let admission = admission_files(&options.elsewhere)?;
    // From here on no file system that hangs can stop it, not even the one that the program lies on.
    let keeper = become_keeper(store_of(common), typed())?;
    let file = options.configuration.as_deref();
    let places = find_places(file, options.place.history.as_deref(), options.runtime.as_deref(), common)?;
    refuse_unreadable(&places.history)?;
    let chosen = Chosen::at(places.clone(), true);
    let since = options.since.clone();
    refuse_no_time(&since)?;
    let elsewhere = admission.map(|(listen, files)| read_admission(listen, files)).transpose()?;
    let admitted = elsewhere.as_ref().map(|elsewhere| elsewhere.files.admitted());
    let serving = Serving {
        listen: options.listen,
        places,
        document: Arc::new(move || live_document(&chosen, &since).map_err(|failure| failure.sentence)),
        elsewhere,
        host: iolag_store::host_name(),
    };
    leave_current_directory();
    let ready = |listening: Listening| {
        let page = listening.page;
        let advice = tunnel_advice(page.port());
        output::notice(
            common,
            &format!("serving http://{page}/ for everybody on this machine, until Ctrl-C; {advice}"),
        );
        if let (Some(address), Some(admitted)) = (listening.metrics, admitted) {
            output::notice(common, &format!("serving https://{address}/metrics for whoever has {admitted}"));
        }
    };
    serve(&serving, keeper.signals, ready, output::complain)?;
    Ok(ExitCode::Fine)
}

/// MongoDB's driver has its runtime use a socket of the process that was forked, which those who read histories for pages do not have.
fn refuse_unreadable(history: &str) -> Result<(), Failure> {
    match cfg!(feature = "mongodb") && is_server(history) {
        true => Err(Failure::unusable(format!(
            "a build with MongoDB's driver does not serve {}, a history in PostgreSQL: use one without the feature mongodb for that",
            shown_place(history)
        ))),
        false => Ok(()),
    }
}

/// Where other machines get metrics, and what says who may ask.
///
/// # Errors
/// If anybody could read them, on the way or by asking.
fn admission_files(options: &MetricsElsewhere) -> Result<Option<(SocketAddr, AdmissionFiles)>, Failure> {
    let Some(listen) = options.metrics_listen else { return Ok(None) };
    let (Some(certificate), Some(key)) = (options.tls_certificate.clone(), options.tls_key.clone()) else {
        return Err(Failure::usage(
            "--metrics-listen is over TLS only; name this server's certificate and key with --tls-certificate FILE --tls-key FILE",
        ));
    };
    let (token, client_authorities) = (options.token_file.clone(), options.client_ca.clone());
    if token.is_none() && client_authorities.is_none() {
        return Err(Failure::usage(
            "--metrics-listen answers nobody whom it does not know; say who may ask, with --token-file FILE, --client-ca FILE or both",
        ));
    }
    Ok(Some((listen, AdmissionFiles { certificate, key, token, client_authorities })))
}

/// Reads what says who may ask, in a child.
fn read_admission(listen: SocketAddr, files: AdmissionFiles) -> Result<Elsewhere, Failure> {
    match ask("scout", FILES_DEADLINE, || files.read())? {
        Answer::Given(read) => Ok(Elsewhere { listen, texts: read.map_err(Failure::usage)?, files }),
        Answer::None { age, .. } => Err(Failure::unusable(format!(
            "the files for --metrics-listen have not been read for {age}; keep them on a local disk"
        ))),
    }
}

/// Refuses what is no time now, not on the page; in a child, because the zone's files are read.
fn refuse_no_time(since: &str) -> Result<(), Failure> {
    let is_time = || here().moment(since).map(|_| ()).map_err(|error| error.to_string());
    match ask("scout", FILES_DEADLINE, is_time)? {
        Answer::Given(Ok(())) => Ok(()),
        Answer::Given(Err(sentence)) => Err(Failure::usage(format!("--since {sentence}"))),
        Answer::None { age, .. } => {
            Err(Failure::unusable(format!("the files of the time zone have not been read for {age}")))
        }
    }
}
