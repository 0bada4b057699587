//! `iolag show history`, `iolag export history`, and what all commands on the history share: where it is, and asking it in a child.
//!
//! Invariant: a history is touched in children only. Its disk may hang, its server may be silent, and Ctrl-C ends either.

use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

use iolag_analysis::history::{
    CorrelationMethod, HistoryAnalysis, HistoryInput, HistoryOptions, LocalTime, MatrixOptions, Stratify,
    SummaryOptions, last_failed,
};
use iolag_conduct::{Answer, ExitCode, Failure, ask};
use iolag_model::{Nanoseconds, WallSpan, WallTime, WatchStatus, counted};
use iolag_report::{HistoryHead, history_text, write_history_json};
use iolag_store::history::{
    Access, History, HistoryError, TableForm, is_server, open_history, write_records, write_samples,
};
use iolag_watch::{PublishedStatus, read_status};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::history_source::analyse;
use super::moment::Here;
use super::show::Look;
use crate::args::{
    Common, Export, ExportForm, HistoryMethod, HistoryPlace, MetadataForm, Method, Show, Stratification,
};
use crate::guarded::{in_child, replace_by};
use crate::output::{self, Printed};
use crate::watching::{Origin, Places};

/// How long a history may be silent, its process idle: longer than it waits for others that write.
const SILENCE_MAX: Nanoseconds = Nanoseconds::from_seconds(60);

/// The history that the user means.
#[derive(Debug, Clone)]
pub struct Chosen {
    places: Places,
    is_named: bool,
}

impl Chosen {
    /// The one named, else this user's own. Touches nothing.
    ///
    /// # Errors
    /// If what is named is neither a file nor a server.
    pub fn new(place: &HistoryPlace) -> Result<Self, Failure> {
        let places = Places::new(place.history.as_deref(), None, &Origin::of_process()).map_err(failure)?;
        Ok(Self { places, is_named: place.history.is_some() })
    }

    /// The one at these places, which the user named or did not.
    pub const fn at(places: Places, is_named: bool) -> Self {
        Self { places, is_named }
    }

    /// Where it is, secrets removed.
    pub fn shown(&self) -> String {
        self.places.shown_history()
    }

    /// What the watch of it on this host publishes, if one runs.
    pub fn live_watch(&self) -> Option<WatchStatus> {
        match read_status(&self.places.present_runtime()?) {
            Ok(PublishedStatus::Live(status)) => Some(status),
            _ => None,
        }
    }

    /// Opens it; to be called in a child.
    ///
    /// # Errors
    /// One sentence, if it cannot be opened in this way.
    pub fn open(&self, access: Access) -> Result<Box<dyn History>, Failure> {
        self.open_now(access).map_err(|unopened| match unopened {
            Unopened::Lasting(failure) => failure,
            Unopened::Passing(sentence) => Failure::unusable(sentence),
        })
    }

    /// Opens it to look.
    ///
    /// # Errors
    /// If there is none, or it cannot be read.
    pub fn look(&self) -> Result<Box<dyn History>, HistoryError> {
        open_history(&self.places.history, Access::ReadOnly)
    }

    /// The same for who can wait.
    ///
    /// # Errors
    /// Why it cannot be opened, and whether it may be later.
    pub fn open_now(&self, access: Access) -> Result<Box<dyn History>, Unopened> {
        if access == Access::Create && !is_server(&self.places.history) {
            self.prepare_directory(Path::new(&self.places.history))?;
        }
        open_history(&self.places.history, access).map_err(Unopened::from)
    }

    /// The directory of a history that is to be made: only the usual one is made too, since a directory that was named and
    /// is missing is a slip of the pen.
    fn prepare_directory(&self, path: &Path) -> Result<(), Unopened> {
        let directory = path.parent().unwrap_or(Path::new("/"));
        let failed = |what: &str| {
            Failure::unusable(format!(
                "cannot make a history in {}: {what}; name another place with --history",
                directory.display()
            ))
        };
        let refused = |error: std::io::Error| match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                Unopened::Passing(failed(&error.to_string()).sentence)
            }
            _ => Unopened::Lasting(failed(&error.to_string())),
        };
        if !self.is_named {
            let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory);
            made.map_err(refused)?;
        }
        let found = directory.metadata().map_err(refused)?;
        // Somebody else's directory in /var/tmp would let them replace the history.
        if !self.is_named && found.uid() != rustix::process::geteuid().as_raw() {
            return Err(Unopened::Lasting(failed("it belongs to another user")));
        }
        if found.is_dir() { Ok(()) } else { Err(Unopened::Lasting(failed("it is no directory"))) }
    }
}

/// Why a history cannot be opened, or asked, now.
#[derive(Debug)]
pub enum Unopened {
    /// Until somebody changes something.
    Lasting(Failure),
    /// It may answer later; the sentence says why it does not now.
    Passing(String),
}

impl Unopened {
    /// Why, in a sentence.
    pub fn sentence(self) -> String {
        match self {
            Self::Lasting(failure) => failure.sentence,
            Self::Passing(sentence) => sentence,
        }
    }
}

impl From<HistoryError> for Unopened {
    fn from(error: HistoryError) -> Self {
        if error.is_passing() { Self::Passing(error.to_string()) } else { Self::Lasting(failure(error)) }
    }
}

/// A failure of the history as one of the program.
pub fn failure(error: HistoryError) -> Failure {
    match error {
        HistoryError::Place { .. } => Failure::usage(error),
        _ => Failure::unusable(error),
    }
}

/// Asks a child that works on the history. What it prints is lost: it answers.
///
/// # Errors
/// The child's, or that the history is silent.
pub fn ask_history<T>(chosen: &Chosen, work: impl Fn() -> Result<T, Failure>) -> Result<T, Failure>
where
    T: Serialize + DeserializeOwned,
{
    let answer =
        ask("history", SILENCE_MAX, || work().map_err(|failure| (failure.code as u8, failure.sentence)))?;
    match answer {
        Answer::Given(Ok(found)) => Ok(found),
        Answer::Given(Err((code, sentence))) => Err(Failure { code: ExitCode::from_number(code), sentence }),
        Answer::None { age, .. } => Err(Failure::unusable(format!(
            "the history {} has not answered for {age}: its disk or server hangs, or a process of iolag was killed; try again \
             later, or name another with --history",
            chosen.shown()
        ))),
    }
}

/// Now and here: reads the zone files, so only in a child.
pub fn here() -> Here {
    Here { now: now(), zone: TimeZone::system() }
}

/// The moment by the wall clock.
pub fn now() -> WallTime {
    WallTime(i64::try_from(Timestamp::now().as_nanosecond()).unwrap_or(i64::MAX))
}

/// Refuses an option for histories where a run was named.
///
/// # Errors
/// One sentence, if there is one.
pub fn refuse_option(given: Option<&str>, command: &str, run: &str) -> Result<(), Failure> {
    match given {
        None => Ok(()),
        Some(option) => Err(Failure::usage(format!(
            "{option} is for the history, and {run:?} is a run: write `iolag {command} history {option} …`"
        ))),
    }
}

/// Runs `iolag show history`.
///
/// # Errors
/// If there is no such history, it cannot be read, or an option does not suit it.
pub fn show(options: &Show, common: &Common) -> Result<ExitCode, Failure> {
    let chosen = Chosen::new(&options.span.place)?;
    if options.plot {
        return Err(Failure::usage("--plot draws runs; for a history leave it out"));
    }
    if matches!(options.format, MetadataForm::Csv | MetadataForm::MdWorkbench) {
        return Err(Failure::usage(
            "a history is shown as text or json; for its samples, run: iolag export history",
        ));
    }
    output::refuse_lost_document(common)?;
    // The terminal is this process's; children have none.
    let look = Look::of_terminal(common);
    let wants_document = common.json.is_some();
    let printed: Printed = ask_history(&chosen, || {
        let here = here();
        let span = here
            .span(options.span.since.as_deref(), options.span.until.as_deref())
            .map_err(Failure::usage)?;
        let mut history = chosen.open(Access::ReadOnly)?;
        let analysis = analyse(history.as_mut(), span, &options.method, &here.zone).map_err(failure)?;
        let head = HistoryHead { place: chosen.shown(), span };
        let json = || document(&head, &analysis);
        Ok(match options.format {
            MetadataForm::Json => Printed {
                text: json()?,
                document: if wants_document { Some(json()?) } else { None },
                ..Printed::default()
            },
            _ => {
                let text = history_text(&head, &analysis, look.width(), look.colour());
                let document = if wants_document { Some(json()?) } else { None };
                Printed { text, document, ..Printed::default() }
            }
        })
    })?;
    let document = printed.document.unwrap_or_default();
    output::deliver(common, &printed.text, || Ok(document.into_bytes()))?;
    Ok(ExitCode::Fine)
}

fn document(head: &HistoryHead, analysis: &HistoryAnalysis) -> Result<String, Failure> {
    let mut document = Vec::new();
    write_history_json(head, analysis, &mut document).map_err(Failure::bug)?;
    String::from_utf8(document).map_err(Failure::bug)
}

/// Everything within `span` that is analysed. Series without a sample in it are left out.
///
/// # Errors
/// If the history cannot be read.
pub fn read(history: &mut dyn History, span: WallSpan) -> Result<HistoryInput, HistoryError> {
    let (mut series, mut failures) = (Vec::new(), Vec::new());
    for one in history.series()? {
        let columns = history.samples(&one.key, span)?;
        if let Some((probe, _)) = last_failed(&columns) {
            failures.extend(history.evidence(&one.key.host, probe)?);
        }
        if !columns.is_empty() {
            series.push((one, columns));
        }
    }
    Ok(HistoryInput { series, failures, ..read_told(history, span)? })
}

/// The same without series, in the order of time.
///
/// # Errors
/// If the history cannot be read.
pub fn read_told(history: &mut dyn History, span: WallSpan) -> Result<HistoryInput, HistoryError> {
    let mut input = HistoryInput {
        series: Vec::new(),
        events: history.events(span)?,
        outages: history.outages(span)?,
        configurations: history.configurations()?,
        sessions: history.sessions(span)?,
        failures: Vec::new(),
    };
    input.put_in_order();
    Ok(input)
}

/// How a history with samples of this time is analysed: days and hours are those of `zone`.
pub fn analysis_options(covered: Option<WallSpan>, how: &HistoryMethod, zone: &TimeZone) -> HistoryOptions {
    let WallSpan { begin, end } =
        covered.unwrap_or(WallSpan { begin: WallTime::default(), end: WallTime::default() });
    let method = match how.method {
        None | Some(Method::Spearman) => CorrelationMethod::Spearman,
        Some(Method::Pearson) => CorrelationMethod::Pearson,
        Some(Method::PearsonLog) => CorrelationMethod::PearsonLog,
    };
    HistoryOptions {
        summary: SummaryOptions { local_time: local_time(zone, begin, end), ..SummaryOptions::default() },
        matrix: MatrixOptions { method, tolerance_ns: how.tolerance, ..MatrixOptions::default() },
        stratify: match how.stratify {
            None | Some(Stratification::None) => Stratify::No,
            Some(Stratification::HourOfWeek) => Stratify::HourOfWeek,
        },
        ..HistoryOptions::default()
    }
}

/// How a zone differs from UTC between two moments, with its changes between summer and winter.
pub fn local_time(zone: &TimeZone, begin: WallTime, end: WallTime) -> LocalTime {
    /// A zone has two changes a year; a broken one must not keep us.
    const CHANGES_MAX: usize = 2000;
    let Ok(first) = Timestamp::from_nanosecond(i128::from(begin.0)) else { return LocalTime::UTC };
    let changes = zone.following(first).take(CHANGES_MAX).map(|change| {
        let moment = i64::try_from(change.timestamp().as_nanosecond()).map_or(WallTime(i64::MAX), WallTime);
        (moment, change.offset().seconds())
    });
    changes
        .take_while(|(moment, _)| *moment <= end)
        .fold(LocalTime::fixed(zone.to_offset(first).seconds()), |local, (moment, offset)| {
            local.changing(moment, offset)
        })
}

/// Runs `iolag export history`: in a child without a deadline, since the reader of a pipe may take its time; Ctrl-C ends it.
///
/// # Errors
/// If there is no such history, or the output cannot be written; then nothing of it stays in a file.
pub fn export(options: &Export, common: &Common) -> Result<ExitCode, Failure> {
    let chosen = Chosen::new(&options.span.place)?;
    let form = match options.format {
        None | Some(ExportForm::Json) => HistoryForm::Records,
        Some(ExportForm::Csv) => HistoryForm::Samples(TableForm::Csv),
        Some(ExportForm::Parquet) if options.output == Path::new("-") => {
            return Err(Failure::usage("Parquet is not printed: name a file with -o"));
        }
        Some(ExportForm::Parquet) => HistoryForm::Samples(TableForm::Parquet),
        Some(ExportForm::MdWorkbench) => {
            return Err(Failure::usage(
                "a history has no latency files: say --format csv, parquet, or json, which can be imported again",
            ));
        }
    };
    in_child("export", || {
        let span = here()
            .span(options.span.since.as_deref(), options.span.until.as_deref())
            .map_err(Failure::usage)?;
        let mut history = chosen.open(Access::ReadOnly)?;
        if options.output == Path::new("-") {
            return print(form, history.as_mut(), span);
        }
        let count = write_file(form, history.as_mut(), span, &options.output)?;
        let written = match form {
            HistoryForm::Records => counted(count, "record", "records"),
            HistoryForm::Samples(_) => counted(count, "sample", "samples"),
        };
        let sentence = format!("{written} written to {}", options.output.display());
        output::notice(common, &sentence);
        Ok(())
    })
}

/// What is exported of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HistoryForm {
    /// Everything, as lines of JSON that another history imports.
    Records,
    /// A table of its samples.
    Samples(TableForm),
}

impl HistoryForm {
    fn write(
        self,
        history: &mut dyn History,
        span: WallSpan,
        output: &mut (impl Write + Send),
    ) -> Result<u64, HistoryError> {
        match self {
            Self::Records => write_records(history, span, output),
            Self::Samples(form) => write_samples(history, span, form, output),
        }
    }
}

fn print(form: HistoryForm, history: &mut dyn History, span: WallSpan) -> Result<(), Failure> {
    let mut output = BufWriter::new(std::io::stdout());
    match form.write(history, span, &mut output) {
        Err(HistoryError::Sink { source }) => {
            output::lost(&source).map_or(Ok(()), |why| Err(Failure::unusable(why)))
        }
        Err(error) => Err(failure(error)),
        Ok(_) => Ok(()),
    }
}

fn write_file(
    form: HistoryForm,
    history: &mut dyn History,
    span: WallSpan,
    path: &Path,
) -> Result<u64, Failure> {
    let (mut count, mut trouble) = (0, None);
    let written = replace_by(path, "-o", |file: &mut File| {
        let mut output = BufWriter::new(file);
        match form.write(history, span, &mut output) {
            Ok(records) => count = records,
            Err(HistoryError::Sink { source }) => return Err(source),
            Err(error) => {
                trouble = Some(error);
                return Err(std::io::Error::other("the history could not be read"));
            }
        }
        output.flush()
    });
    match trouble {
        Some(error) => Err(failure(error)),
        None => written.map(|()| count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_time_follows_summer_and_winter() {
        let zone = TimeZone::posix("PST8PDT,M3.2.0,M11.1.0").unwrap();
        // 2008-01-01 to 2008-12-31.
        let local =
            local_time(&zone, WallTime::from_seconds(1_199_145_600), WallTime::from_seconds(1_230_681_600));
        // Noon by UTC.
        for (seconds, hour) in [(1_199_188_800, 4), (1_214_913_600, 5), (1_230_638_400, 4)] {
            assert_eq!(local.at(WallTime::from_seconds(seconds)).hour, hour);
        }
        assert_eq!(local_time(&TimeZone::UTC, WallTime(0), WallTime(1)), LocalTime::UTC);
    }

    #[test]
    fn a_usual_directory_is_made_and_a_named_one_is_not() {
        let home = tempfile::tempdir().unwrap();
        let variable =
            |name: &str| (name == "XDG_STATE_HOME").then(|| home.path().join("state").into_os_string());
        let chosen = |history: Option<&str>| Chosen {
            places: Places::new(history, None, &Origin { user: 1, directory: None, variable }).unwrap(),
            is_named: history.is_some(),
        };
        let named = home.path().join("missing/history.sqlite").display().to_string();
        let refused = chosen(Some(&named)).open(Access::Create).err().unwrap().sentence;
        assert!(
            refused.starts_with("cannot make a history in ") && refused.contains("--history"),
            "{refused}"
        );
        assert!(!home.path().join("missing").exists());
        let refused = chosen(None).open(Access::ReadOnly).err().unwrap().sentence;
        assert!(refused.starts_with("no history at "), "{refused}");
        assert!(!home.path().join("state").exists());
    }
}
