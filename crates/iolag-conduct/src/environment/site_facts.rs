//! What the user says of this host in the file of a watch: a text, the first line of a file, or the first line that a command prints.
//!
//! Invariants: each file is read and each command runs in a child of its own, all at once and within one deadline, whatever file system
//! they lie on; a child that cannot be ended is remembered by all processes of the watch, and its fact is not asked again until it
//! has gone; a fact is never absent: what cannot be found out says so, in words that do not change by themselves.

use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use iolag_backend::redact_line;
use iolag_keeper::{Awaited, KeeperError, SharedWords, Word, members_of_session, wait_for_any};
use iolag_model::{Clock, MonotonicClock, MonotonicTime, Nanoseconds};
use iolag_watch::{FactSource, PlannedFact, Worker, WorkerState};

/// More are no description of a host.
pub const FACTS_MAX: usize = 64;
/// How long all of them may take. Who looks up circumstances has 10 s.
pub const DEADLINE: Nanoseconds = Nanoseconds::from_seconds(5);
/// How long those that are ended may take to go.
const GRACE: Nanoseconds = Nanoseconds::from_milliseconds(500);
/// How often they are looked at: where the kernel tells of no end, and to see that a deadline has passed.
const LOOK: Nanoseconds = Nanoseconds::from_milliseconds(20);
/// Longest value, in characters.
const VALUE_CHARACTERS_MAX: usize = 200;
/// Read of a file or an output; the rest of an output is dropped.
const LINE_BYTES: u64 = 4096;

/// The facts of a site, and who has not come back from asking.
#[derive(Debug)]
pub struct SiteFacts {
    facts: Vec<PlannedFact>,
    /// Of each fact the session of a child that could not be ended, or 0.
    stuck: SharedWords<[Word; FACTS_MAX]>,
}

impl SiteFacts {
    /// These facts, of which those beyond [`FACTS_MAX`] are left out.
    ///
    /// # Errors
    /// If the kernel has no memory for it.
    pub fn new(facts: &[PlannedFact]) -> Result<Self, KeeperError> {
        Ok(Self { facts: facts[..facts.len().min(FACTS_MAX)].to_vec(), stuck: SharedWords::new()? })
    }

    /// What holds now, by name. Takes no longer than [`DEADLINE`] and half a second; for a child with one thread.
    pub fn look_up(&self) -> Vec<(String, String)> {
        self.look_up_until(MonotonicClock.now().after(DEADLINE))
    }

    fn look_up_until(&self, end: MonotonicTime) -> Vec<(String, String)> {
        let with_stuck = self.facts.iter().zip(&*self.stuck);
        let mut asked: Vec<_> = with_stuck.map(|(fact, stuck)| ask(fact, stuck, end)).collect();
        while !asked.iter().all(|asked| matches!(asked, Asked::Known(_))) {
            let now = MonotonicClock.now();
            for (asked, stuck) in asked.iter_mut().zip(&*self.stuck) {
                asked.look(now, end, stuck);
            }
            let awaited: Vec<_> = asked.iter().flat_map(Asked::awaited).collect();
            wait_for_any(&awaited, Some(LOOK));
        }
        let value = |asked| match asked {
            Asked::Known(value) => value,
            Asked::UnderWay(_) => no_answer(),
        };
        self.facts.iter().map(|fact| fact.name.clone()).zip(asked.into_iter().map(value)).collect()
    }
}

/// How it stands with a fact.
enum Asked {
    Known(String),
    UnderWay(Worker),
}

impl Asked {
    /// Takes what has come. Who has not answered at `end` is ended, and given up after [`GRACE`]; whatever is left of its session is `stuck`.
    fn look(&mut self, now: MonotonicTime, end: MonotonicTime, stuck: &Word) {
        let Self::UnderWay(worker) = self else { return };
        let said = match worker.look(now) {
            WorkerState::Done(line) => value_of(&line),
            WorkerState::Failed(why) if now < end => value_of(&why).and_then(Err),
            WorkerState::UnderWay => return,
            WorkerState::Overdue if now < end.after(GRACE) => {
                worker.kill();
                return;
            }
            WorkerState::Overdue | WorkerState::Failed(_) => {
                stuck.store(u64::from(worker.process()));
                *self = Self::Known(no_answer());
                return;
            }
        };
        *self = Self::Known(said.unwrap_or_else(|why| unknown(&why)));
    }

    fn awaited(&self) -> impl Iterator<Item = Awaited<'_>> {
        let worker = match self {
            Self::UnderWay(worker) => Some(worker),
            Self::Known(_) => None,
        };
        worker.into_iter().flat_map(Worker::awaited)
    }
}

/// What a fact says that could not be found out.
fn unknown(why: &str) -> String {
    format!("unknown: {why}")
}

fn no_answer() -> String {
    unknown(&format!("no answer within {DEADLINE}"))
}

fn ask(fact: &PlannedFact, stuck: &Word, end: MonotonicTime) -> Asked {
    let session = u32::try_from(stuck.load()).unwrap_or(0);
    if session != 0 && !members_of_session(session).is_empty() {
        return Asked::Known(no_answer());
    }
    stuck.store(0);
    let started = match &fact.source {
        FactSource::Text(text) => {
            return Asked::Known(value_of(text.as_bytes()).unwrap_or_else(|why| unknown(&why)));
        }
        FactSource::File(path) => Worker::start("fact", end, || first_line_of_file(path)),
        FactSource::Command(command) => Worker::start("fact", end, || first_line_of_command(command)),
    };
    started.map_or_else(|error| Asked::Known(unknown(&error.to_string())), Asked::UnderWay)
}

/// The first line as a value: without secrets and what steers terminals, in at most [`VALUE_CHARACTERS_MAX`] characters.
fn value_of(text: &[u8]) -> Result<String, String> {
    let text = String::from_utf8_lossy(text);
    let line = redact_line(text.lines().next().unwrap_or_default());
    let clean = line.chars().map(|character| if character.is_control() { ' ' } else { character });
    let value: String = clean.collect::<String>().trim().chars().take(VALUE_CHARACTERS_MAX).collect();
    if value.is_empty() { Err("the first line is empty".to_owned()) } else { Ok(value) }
}

/// In a child: opening may wait for a file system, or for somebody to write to a pipe.
fn first_line_of_file(path: &Path) -> Result<Vec<u8>, String> {
    let told = |error: std::io::Error| format!("{}: {error}", path.display());
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path).map_err(told)?;
    if !file.metadata().map_err(told)?.is_file() {
        return Err(format!("{} is no file", path.display()));
    }
    let mut line = Vec::new();
    file.take(LINE_BYTES).read_to_end(&mut line).map_err(told)?;
    Ok(line)
}

/// In a child: starting a program waits until it is loaded. The program is of the child's session and is ended with it.
fn first_line_of_command(command: &[String]) -> Result<Vec<u8>, String> {
    let (program, arguments) = command.split_first().ok_or("an empty command")?;
    let told = |error: std::io::Error| format!("{program}: {error}");
    let mut child = Command::new(program)
        .args(arguments)
        // The same words whoever starts the watch.
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(told)?;
    let mut line = Vec::new();
    if let Some(mut output) = child.stdout.take() {
        (&mut output).take(LINE_BYTES).read_to_end(&mut line).map_err(told)?;
        // Who cannot write what it has to say does not end well.
        std::io::copy(&mut output, &mut std::io::sink()).map_err(told)?;
    }
    let status = child.wait().map_err(told)?;
    if status.success() { Ok(line) } else { Err(format!("{program}: {status}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(name: &str, source: FactSource) -> PlannedFact {
        PlannedFact { name: name.to_owned(), source }
    }

    fn shell(script: &str) -> FactSource {
        FactSource::Command(["/bin/sh", "-c", script].map(str::to_owned).into())
    }

    fn values(facts: &SiteFacts, limit: Nanoseconds) -> Vec<String> {
        let end = MonotonicClock.now().after(limit);
        facts.look_up_until(end).into_iter().map(|(_, value)| value).collect()
    }

    const MINUTE: Nanoseconds = Nanoseconds::from_seconds(60);

    #[test]
    fn texts_files_and_commands_say_their_first_line() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("tuning");
        std::fs::write(&file, "  cache 2 GB\x1b[31m \nsecond\n").unwrap();
        let facts = [
            fact("slots", FactSource::Text("28".to_owned())),
            fact("tuning", FactSource::File(file.clone())),
            fact("client", shell("echo openafs-1.4.12; yes | head -c 300000; echo noise >&2")),
            fact("missing", FactSource::File(place.path().join("not-there"))),
            fact("directory", FactSource::File(place.path().to_owned())),
            fact("fails", shell("echo package openafs is not installed; exit 1")),
            fact("silent", shell(":")),
            fact("absent", FactSource::Command(vec!["/not/there".to_owned()])),
        ];
        let site = SiteFacts::new(&facts).unwrap();
        let at = place.path().display();
        let expected = [
            "28".to_owned(),
            "cache 2 GB [31m".to_owned(),
            "openafs-1.4.12".to_owned(),
            format!("unknown: {at}/not-there: No such file or directory (os error 2)"),
            format!("unknown: {at} is no file"),
            "unknown: /bin/sh: exit status: 1".to_owned(),
            "unknown: the first line is empty".to_owned(),
            "unknown: /not/there: No such file or directory (os error 2)".to_owned(),
        ];
        assert_eq!(values(&site, MINUTE), expected);
        std::fs::write(&file, "cache 4 GB\n").unwrap();
        assert_eq!(values(&site, MINUTE)[1], "cache 4 GB", "it is asked again");
    }

    #[test]
    fn one_that_does_not_answer_keeps_no_other_from_answering() {
        let place = tempfile::tempdir().unwrap();
        let pipe = place.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        let facts = [
            fact("hangs", shell("echo early; sleep 600")),
            fact("pipe", FactSource::File(pipe)),
            fact("quick", shell("echo 21")),
        ];
        let site = SiteFacts::new(&facts).unwrap();
        let [hangs, pipe, quick] = &values(&site, Nanoseconds::from_seconds(5))[..] else {
            panic!("three were asked")
        };
        assert_eq!(hangs, "unknown: no answer within 5.00 s");
        assert!(pipe.ends_with("is no file"), "{pipe}");
        assert_eq!(quick, "21");
    }

    #[test]
    fn who_is_stuck_is_waited_for_before_anybody_is_sent_again() {
        let facts = [fact("fact", shell("echo 21"))];
        let site = SiteFacts::new(&facts).unwrap();
        let end = MonotonicClock.now().after(MINUTE);
        let mut stuck = Worker::start("test", end, || {
            std::thread::sleep(std::time::Duration::from_secs(600));
            Ok(Vec::new())
        })
        .unwrap();
        // Who asks a fact has made its session long before it is given up.
        while members_of_session(stuck.process()).is_empty() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        site.stuck[0].store(u64::from(stuck.process()));
        assert_eq!(values(&site, MINUTE), ["unknown: no answer within 5.00 s"]);
        stuck.kill();
        while !matches!(stuck.look(MonotonicClock.now()), WorkerState::Failed(_)) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert_eq!(values(&site, MINUTE), ["21"]);
        assert_eq!(site.stuck[0].load(), 0);
    }
}
