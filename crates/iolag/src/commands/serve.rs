//! `iolag serve`: what a watch does and has found out, in a browser and for monitoring systems.

use std::sync::Arc;

use iolag_model::Nanoseconds;

use super::history::{Chosen, here};
use super::report_history::live_document;
use super::start::{become_keeper, leave_current_directory};
use super::watch::find_places;
use crate::args::{Common, Serve};
use crate::conduct::scout::{Answer, ask};
use crate::exit_code::{ExitCode, Failure};
use crate::output;
use crate::serve::{Serving, serve, tunnel_advice};

/// How long the files of the time zone may take.
const FILES_DEADLINE: Nanoseconds = Nanoseconds::from_seconds(15);

/// Serves until Ctrl-C.
///
/// # Errors
/// If the configuration cannot be read, or the address cannot be listened on. A history that is not there, or does not answer, is
/// said on the page: it may come.
pub fn run(options: &Serve, common: &Common) -> Result<ExitCode, Failure> {
    output::refuse_document(common, "serve")?;
    // From here on no file system that hangs can stop it, not even the one that the program lies on.
    let keeper = become_keeper(common)?;
    let file = options.configuration.as_deref();
    let places = find_places(file, options.place.history.as_deref(), options.runtime.as_deref(), common)?;
    let chosen = Chosen::at(places.clone(), true);
    let since = options.since.clone();
    refuse_no_time(&since)?;
    let serving = Serving {
        listen: options.listen,
        shown_history: places.shown_history(),
        history: places.history.clone(),
        places,
        document: Arc::new(move || live_document(&chosen, &since).map_err(|failure| failure.sentence)),
        host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
    };
    leave_current_directory();
    serve(&serving, keeper.signals, |address| {
        let advice = tunnel_advice(address.port());
        output::notice(
            common,
            &format!("serving http://{address}/ for everybody on this machine, until Ctrl-C; {advice}"),
        );
    })?;
    Ok(ExitCode::Fine)
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
