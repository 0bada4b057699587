//! Printing, and writing files for the user: the latter in a child with a deadline, since `--json` may name a file on a file
//! system that hangs.

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use iolag_backend::redact;
use iolag_conduct::{Answer, Conducted, ExitCode, Failure, STORE_DEADLINE, ask};
use iolag_model::is_steering;
use iolag_report::{Colour, wrapped};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::args::{ColourWhen, Common};
use crate::replacing::{database_of, refusal, replace};

/// Sentences in narrower lines cannot be read. Tables may be wider than a terminal; they break where it does.
const WIDTH_MIN: usize = 40;
/// Wider lines are hard to read.
const WIDTH_MAX: usize = 200;

/// Writes a part of a result to standard output while the work goes on, and says if that is not possible. How the command is to end
/// because of that: a result that is lost is never fine.
#[must_use]
pub fn print(text: &str) -> ExitCode {
    match print_result(text) {
        Ok(()) => ExitCode::Fine,
        Err(failure) => {
            complain(&failure.sentence);
            failure.code
        }
    }
}

/// Writes a result to standard output.
///
/// # Errors
/// If it cannot be written, as on a full disk. A reader that went away (`| head`) is no error.
pub fn print_result(text: &str) -> Result<(), Failure> {
    let mut output = std::io::stdout().lock();
    let written = output.write_all(printable(text).as_bytes()).and_then(|()| output.flush());
    let lost = written.err().as_ref().and_then(lost);
    lost.map_or(Ok(()), |sentence| Err(Failure::unusable(sentence)))
}

/// Why standard output took no more, as a sentence; `None` if that is no error, since a reader went away (`| head`).
pub fn lost(error: &std::io::Error) -> Option<String> {
    (error.kind() != std::io::ErrorKind::BrokenPipe)
        .then(|| format!("cannot write to standard output: {error}; send it elsewhere"))
}

/// The text without control characters but line ends, tabs and colours, and without those that turn the direction of what follows: paths, mount sources and
/// compilers' messages come from outside, and must not steer an administrator's terminal.
pub fn printable(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_steering) {
        clean.push_str(&rest[..at]);
        rest = &rest[at..];
        let colour = rest.strip_prefix("\x1b[").and_then(|code| {
            let length = code.find(|character: char| !character.is_ascii_digit() && character != ';')?;
            code[length..].starts_with('m').then_some(length + 3)
        });
        match colour {
            Some(length) => {
                clean.push_str(&rest[..length]);
                rest = &rest[length..];
            }
            None => {
                clean.push(char::REPLACEMENT_CHARACTER);
                rest = &rest[rest.chars().next().map_or(0, char::len_utf8)..];
            }
        }
    }
    clean.push_str(rest);
    clean
}

/// Writes a notice to standard error, unless the user wants none.
pub fn notice(common: &Common, text: &str) {
    if !common.quiet {
        complain(text);
    }
}

/// Writes a sentence to standard error, without the passwords of URLs that it may repeat.
pub fn complain(sentence: &str) {
    let text = printable(&redact(&format!("iolag: {sentence}")));
    let text = match rustix::termios::tcgetwinsize(std::io::stderr()) {
        Ok(size) => {
            let width = usize::from(size.ws_col).clamp(WIDTH_MIN, WIDTH_MAX);
            text.lines().map(|line| wrapped(line, width, "  ")).collect::<Vec<_>>().join("\n")
        }
        // Programs that read it want a sentence in one line.
        Err(_) => text,
    };
    // Nobody is left to be told if standard error is gone.
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Whether standard output gets colours.
pub fn colour(common: &Common, variable: impl Fn(&str) -> Option<OsString>) -> Colour {
    let wanted = match common.colour {
        ColourWhen::Always => true,
        ColourWhen::Never => false,
        ColourWhen::Auto => {
            let refused = variable("NO_COLOR").is_some_and(|value| !value.is_empty());
            let is_dumb = variable("TERM").is_some_and(|value| value == "dumb");
            std::io::stdout().is_terminal() && !refused && !is_dumb
        }
    };
    if wanted { Colour::Always } else { Colour::Never }
}

/// Columns of the terminal; 100 where there is none.
pub fn width() -> usize {
    const WITHOUT_TERMINAL: usize = 100;
    rustix::termios::tcgetwinsize(std::io::stdout())
        .map_or(WITHOUT_TERMINAL, |size| usize::from(size.ws_col).clamp(WIDTH_MIN, WIDTH_MAX))
}

/// What is still there where a document is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// The run that was just measured.
    Run,
    /// What the command read: it may be asked again.
    Sources,
}

impl Kept {
    const fn advice(self) -> &'static str {
        match self {
            Self::Run => "the run is kept, write it elsewhere with: iolag show --json FILE",
            Self::Sources => "name another file with --json",
        }
    }
}

/// Prints a result and, if asked for, writes it as a document; `--json -` prints the document instead. The text comes first:
/// a file that cannot be written must not hide it.
///
/// # Errors
/// One sentence, if the document cannot be made or written.
pub fn deliver(
    common: &Common,
    text: &str,
    kept: Kept,
    document: impl FnOnce() -> Result<Vec<u8>, Failure>,
) -> Result<(), Failure> {
    match &common.json {
        None => print_result(text)?,
        Some(path) if is_standard_output(path) => print_result(&String::from_utf8_lossy(&document()?))?,
        Some(path) => {
            let printed = print(text);
            write_file(path, &document()?, kept)?;
            if printed != ExitCode::Fine {
                return Err(Failure {
                    code: printed,
                    sentence: "the text is lost, the JSON document is written".into(),
                });
            }
        }
    }
    Ok(())
}

/// Names of standard output, ...
const STANDARD_OUTPUT: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
/// ... and of the other streams: in the child that writes files each of them is another one.
const OTHER_STREAMS: [&str; 6] =
    ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"];

/// Whether a path means standard output.
pub fn is_standard_output(path: &Path) -> bool {
    STANDARD_OUTPUT.iter().any(|name| path == Path::new(name))
}

/// Whether tables are printed: not if standard output is for JSON.
pub fn prints_text(common: &Common) -> bool {
    !common.json.as_deref().is_some_and(is_standard_output)
}

/// Refuses a `--json` file whose directory is not there, before anything is measured.
///
/// # Errors
/// One sentence.
pub fn refuse_lost_document(common: &Common) -> Result<(), Failure> {
    match common.json.as_deref().filter(|path| !is_standard_output(path)) {
        Some(path) => refuse_lost(path, "JSON document"),
        None => Ok(()),
    }
}

/// The same for a file of `--report` too, which is to be another one.
///
/// # Errors
/// One sentence.
pub fn refuse_lost_files(report: Option<&Path>, common: &Common) -> Result<(), Failure> {
    refuse_lost_document(common)?;
    let Some(report) = report else { return Ok(()) };
    refuse_lost(report, "report")?;
    let Some(json) = common.json.as_deref().filter(|path| !is_standard_output(path)) else { return Ok(()) };
    let is_device = || report.metadata().is_ok_and(|metadata| !metadata.is_file());
    match ask("scribe", STORE_DEADLINE, || place(json) == place(report) && !is_device())? {
        Answer::Given(true) => Err(Failure::usage(format!(
            "--json and --report name the same file, {}, and one would replace the other: name two",
            report.display()
        ))),
        Answer::Given(false) => Ok(()),
        Answer::None { age, .. } => Err(Failure::unusable(silent_file("report", report, age))),
    }
}

/// Refuses to replace by a result what the command itself reads or writes.
///
/// # Errors
/// One sentence.
pub fn refuse_needed_files(report: Option<&Path>, common: &Common, needed: &[&Path]) -> Result<(), Failure> {
    let json = common.json.as_deref().filter(|path| !is_standard_output(path));
    for (path, what) in
        json.map(|path| (path, "JSON document")).into_iter().chain(report.map(|path| (path, "report")))
    {
        let is_needed = |path: &Path| needed.iter().any(|needed| is_same(path, needed));
        let question = || is_needed(path) || database_of(path).is_some_and(|database| is_needed(&database));
        match ask("scribe", STORE_DEADLINE, question)? {
            Answer::Given(false) => {}
            Answer::Given(true) => {
                return Err(Failure::usage(format!(
                    "cannot write the {what} {}: the command needs that file itself; name another file",
                    path.display()
                )));
            }
            Answer::None { age, .. } => return Err(Failure::unusable(silent_file(what, path, age))),
        }
    }
    Ok(())
}

/// Whether two paths lead to one file, be it there or not; to be called in a child, since it may hang.
pub fn is_same(one: &Path, other: &Path) -> bool {
    match (one.metadata(), other.metadata()) {
        (Ok(one), Ok(other)) => one.is_file() && (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => place(one) == place(other),
    }
}

/// A directory may have two names.
fn place(path: &Path) -> (Option<PathBuf>, Option<OsString>) {
    let path = iolag_conduct::absolute(path);
    let parent = path.parent().and_then(|parent| parent.canonicalize().ok());
    (parent, path.file_name().map(ToOwned::to_owned))
}

fn refuse_lost(path: &Path, what: &str) -> Result<(), Failure> {
    if is_standard_output(path) || OTHER_STREAMS.iter().any(|name| path == Path::new(name)) {
        let sentence = format!("cannot write the {what} to {}: name a file", path.display());
        return Err(Failure::usage(sentence));
    }
    let path = iolag_conduct::absolute(path);
    let parent = path.parent().unwrap_or(Path::new("/")).to_owned();
    let question = || match (parent.is_dir(), path.is_dir()) {
        (false, _) => Some(format!("there is no directory {}; make it first", parent.display())),
        (true, true) => Some("it is a directory; name a file".to_owned()),
        (true, false) => refusal(&path).map(|reason| format!("{reason}; name another file")),
    };
    match ask("scribe", STORE_DEADLINE, question)? {
        Answer::Given(None) => Ok(()),
        Answer::Given(Some(reason)) => {
            Err(Failure::usage(format!("cannot write the {what} {}: {reason}", path.display())))
        }
        Answer::None { age, .. } => Err(Failure::unusable(silent_file(what, &path, age))),
    }
}

/// Refuses `--json` for a command that has no result to write.
///
/// # Errors
/// One sentence.
pub fn refuse_document(common: &Common, command: &str) -> Result<(), Failure> {
    match common.json {
        None => Ok(()),
        Some(_) => {
            Err(Failure::usage(format!("iolag {command} has no result to write as JSON: leave out --json")))
        }
    }
}

fn silent_file(what: &str, path: &Path, age: iolag_model::Nanoseconds) -> String {
    format!(
        "cannot write the {what} {}: its file system has not answered for {age}; name another file",
        path.display()
    )
}

/// Writes a file for the user, as a whole or not at all.
fn write_file(path: &Path, content: &[u8], kept: Kept) -> Result<(), Failure> {
    let path: PathBuf = iolag_conduct::absolute(path);
    let written = ask("scribe", STORE_DEADLINE, || {
        replace(&path, |file| file.write_all(content)).map_err(|error| error.to_string())
    })?;
    match written {
        Answer::Given(Ok(())) => Ok(()),
        Answer::Given(Err(error)) => Err(Failure::unusable(format!(
            "cannot write the JSON document {}: {error}; {}",
            path.display(),
            kept.advice()
        ))),
        Answer::None { age, .. } => Err(Failure::unusable(silent_file("JSON document", &path, age))),
    }
}

/// What a child found out about the store: text for people and, if it was asked for, the document.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Printed {
    /// The text.
    pub text: String,
    /// The JSON document.
    pub document: Option<String>,
    /// What went wrong or is to be known besides, as sentences for standard error.
    pub complaints: Vec<String>,
    /// How the command ends.
    pub code: ExitCode,
}

impl Printed {
    /// Text alone.
    pub fn text(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

/// Does something with the store in a child, so that a store that does not answer is said and not waited for. The child
/// returns what is to be printed.
///
/// # Errors
/// The child's, or that the store does not answer.
pub fn with_store(
    store: &Path,
    common: &Common,
    work: impl Fn() -> Result<Printed, Failure>,
) -> Result<ExitCode, Failure> {
    tell(common, ask_store(store, work)?)
}

/// Delivers what a child found out, and says what went wrong.
///
/// # Errors
/// As [`deliver`].
pub fn tell(common: &Common, printed: Printed) -> Result<ExitCode, Failure> {
    let document = printed.document.unwrap_or_default();
    let delivered = deliver(common, &printed.text, Kept::Sources, || Ok(document.into_bytes()));
    printed.complaints.iter().for_each(|sentence| complain(sentence));
    delivered.map_or_else(|failure| Err(failure.at_least(printed.code)), |()| Ok(printed.code))
}

/// Asks the store something, in a child.
///
/// # Errors
/// The child's, or that the store does not answer.
pub fn ask_store<T: Serialize + DeserializeOwned>(
    store: &Path,
    question: impl Fn() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let answer =
        ask("store", STORE_DEADLINE, || question().map_err(|failure| (failure.code as u8, failure.sentence)));
    match answer? {
        Answer::Given(Ok(found)) => Ok(found),
        Answer::Given(Err((code, sentence))) => Err(Failure { code: ExitCode::from_number(code), sentence }),
        Answer::None { age, .. } => {
            Err(Failure::unusable(format!("the store {} has not answered for {age}", store.display())))
        }
    }
}

/// Tells the user what came of a run besides its numbers. Why something failed is told to those who want no notices, too.
pub fn tell_outcome(common: &Common, conducted: &Conducted) {
    for text in &conducted.notices {
        match conducted.code {
            ExitCode::Fine => notice(common, text),
            _ => complain(text),
        }
    }
}

/// Tells the user what was found out.
pub fn tell_notices(common: &Common, notices: &[String]) {
    for text in notices {
        notice(common, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn colours_stay_and_everything_that_steers_a_terminal_goes() {
        assert_eq!(printable("a\n\tb \x1b[1;31mred\x1b[0m é"), "a\n\tb \x1b[1;31mred\x1b[0m é");
        assert_eq!(printable("/home/\u{202e}gpj.exe\u{2069} א"), "/home/\u{fffd}gpj.exe\u{fffd} א");
        assert_eq!(
            printable("\x1b]0;title\x07\x1b[2J\u{9b}1m\r"),
            "\u{fffd}]0;title\u{fffd}\u{fffd}[2J\u{fffd}1m\u{fffd}"
        );
    }

    proptest! {
        #[test]
        fn nothing_printed_holds_a_control_character_but_for_colours(text in any::<String>()) {
            let clean = printable(&text);
            let controls = clean.chars().filter(|character| character.is_control() && !"\n\t\x1b".contains(*character));
            prop_assert_eq!(controls.count(), 0);
        }
    }
}
