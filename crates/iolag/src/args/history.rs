//! What the user can type of commands on the history.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use iolag_model::{BatchId, Nanoseconds, parse_count, parse_duration};
use iolag_store::import::{
    ColumnName, DecimalMark, HeaderRow, IdenticalRows, ImportForm, MissingValues, Separator, TimeFormat,
    ValueColumn, ValueUnit,
};

/// The word that stands for the history where a run could be named.
pub const HISTORY: &str = "history";

/// Which history.
#[derive(Debug, Clone, Default, Args)]
pub struct HistoryPlace {
    /// The history: a file on a local disk, or postgres://USER@HOST/DATABASE [default: $IOLAG_HISTORY, else that of `iolag watch`]
    #[arg(long, value_name = "PATH|URL", value_parser = parse_place)]
    pub history: Option<String>,
}

/// The history that `iolag watch` would take, where one may be named or not.
const USUAL: &str = "default";

impl HistoryPlace {
    /// The one that is meant by a name that may be `default`.
    pub fn named(place: &str) -> Self {
        Self { history: (place != USUAL).then(|| place.to_owned()) }
    }
}

/// Which part of a history.
#[derive(Debug, Clone, Default, Args)]
pub struct HistorySpan {
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub place: HistoryPlace,
    /// Of the history: only what was due from then on, as in 30d, yesterday, 2008-05-08 or "2008-05-08 14:00"
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Of the history: only what was due before then
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
}

impl HistorySpan {
    /// The first of these options that was given, as it is written.
    pub const fn given(&self) -> Option<&'static str> {
        match self {
            Self { place: HistoryPlace { history: Some(_) }, .. } => Some("--history"),
            Self { since: Some(_), .. } => Some("--since"),
            Self { until: Some(_), .. } => Some("--until"),
            _ => None,
        }
    }
}

/// How correlations are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Method {
    /// Of ranks.
    Spearman,
    /// Of values as recorded: one long stall decides it.
    Pearson,
    /// Of logarithms of values.
    PearsonLog,
}

/// Which attempts are compared with which, before and after an event and in two places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Stratification {
    /// All with all; before and after an event working days with working days, where one time has more weekend than the other.
    None,
    /// Those of the same hour of the week, if there are two weeks of them and nine tenths of either side have a counterpart.
    HourOfWeek,
}

/// How correlations are found in a history.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct CorrelationMethod {
    /// Of the history: how correlations are computed [default: spearman]
    #[arg(long, value_name = "METHOD")]
    pub method: Option<Method>,
    /// Of the history: how far apart two values may be to be correlated [default: half the longer of their periods]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = crate::args::values::parse_period)]
    pub tolerance: Option<Nanoseconds>,
}

impl CorrelationMethod {
    /// The first of these options that was given, as it is written.
    pub const fn given(&self) -> Option<&'static str> {
        match self {
            Self { method: Some(_), .. } => Some("--method"),
            Self { tolerance: Some(_), .. } => Some("--tolerance"),
            _ => None,
        }
    }
}

/// How a history is analysed.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct HistoryMethod {
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub correlations: CorrelationMethod,
    /// Of the history: what is compared with what, before and after an event and in two places [default: none]
    #[arg(long, value_name = "WHAT")]
    pub stratify: Option<Stratification>,
}

impl HistoryMethod {
    /// The first of these options that was given, as it is written.
    pub fn given(&self) -> Option<&'static str> {
        self.correlations.given().or(self.stratify.map(|_| "--stratify"))
    }
}

/// `iolag note`.
#[derive(Debug, Args)]
pub struct Note {
    /// What happened
    #[arg(value_name = "TEXT", value_parser = parse_text, required_unless_present_any = ["edit", "remove"])]
    pub text: Option<String>,
    /// Correct a note instead: what is given here replaces what it said, the rest stays
    #[arg(long, value_name = "ID", value_parser = parse_event_id)]
    pub edit: Option<String>,
    /// Take a note, or an event that was imported, back for good; `iolag history notes` lists them
    #[arg(long, value_name = "ID", value_parser = parse_event_id,
          conflicts_with_all = ["edit", "text", "at", "until", "target", "host", "kind", "link"])]
    pub remove: Option<String>,
    /// When, or when it began, as in "2008-05-08 14:00", 14:00, yesterday, 2h [default: now]
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    /// When it ended, if it lasted
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// The target that it concerns, as it is called in the history [default: all]
    #[arg(long, value_name = "NAME", value_parser = parse_text)]
    pub target: Option<String>,
    /// The host that it concerns [default: all]
    #[arg(long, value_name = "NAME", value_parser = parse_text)]
    pub host: Option<String>,
    /// A word to group by, as in change, maintenance or failure
    #[arg(long, value_name = "WORD", value_parser = parse_kind)]
    pub kind: Option<String>,
    /// Page or ticket about it
    #[arg(long, value_name = "URL", value_parser = parse_link)]
    pub link: Option<String>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub place: HistoryPlace,
}

/// `iolag history`.
#[derive(Debug, Subcommand)]
pub enum HistoryCommand {
    /// List the imports, what of each counts, and how it was read
    Batches(Batches),
    /// Take an import back: what it replaced counts again
    Undo(Undo),
    /// Give a target another name: all that is remembered of it is shown under that
    Rename(RenameTarget),
    /// Let a history remember runs that are stored: a value for each operation, for changes over months
    Remember(Remember),
    /// List what was noted and which events were imported, with the ids by which they are corrected
    Notes(Notes),
}

/// `iolag history batches`.
#[derive(Debug, Args)]
pub struct Batches {
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub place: HistoryPlace,
}

/// `iolag history notes`.
#[derive(Debug, Args)]
pub struct Notes {
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub span: HistorySpan,
}

/// `iolag history undo`.
#[derive(Debug, Args)]
pub struct Undo {
    /// The import, as `iolag history batches` lists it
    #[arg(value_name = "BATCH")]
    pub batch: BatchId,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub place: HistoryPlace,
}

/// `iolag history remember`.
#[derive(Debug, Args)]
pub struct Remember {
    /// The run: its id, a part of that, last, or a path; campaign:RUN is all runs of its campaign
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<String>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub place: HistoryPlace,
}

/// `iolag history rename`.
#[derive(Debug, Args)]
pub struct RenameTarget {
    /// What the target is called in the history
    #[arg(value_name = "OLD")]
    pub old: String,
    /// What it is to be called
    #[arg(value_name = "NEW")]
    pub new: String,
    /// Make one of two targets that are both known: this cannot be taken back
    #[arg(long)]
    pub join: bool,
    /// The host that has it [default: this one]
    #[arg(long, value_name = "NAME", value_parser = parse_text)]
    pub host: Option<String>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub place: HistoryPlace,
}

/// `iolag import`.
#[derive(Debug, Args)]
pub struct Import {
    /// Files: exports of iolag, CSV, exports of Grafana, logs, lists of events, journals; - is standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Show what would be imported, and import nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Where the history knows another value, take that of the file; without this such a file is refused
    #[arg(long)]
    pub replace: bool,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub place: HistoryPlace,
    /// The files are lists of events: time,end,text,kind,target,link,host,author
    #[arg(long, conflicts_with_all = ["form", "journal"])]
    pub events: bool,
    /// The files are what `journalctl -o json` prints
    #[arg(long, conflicts_with = "form")]
    pub journal: bool,
    /// What kind of file it is: csv, grafana, text, pattern, events or journal [default: told by its beginning]
    #[arg(long, visible_alias = "format", value_name = "FORM")]
    pub form: Option<ImportForm>,
    /// Column of the time, by name or number from 1; several are joined [default: one called like a time, else the first]
    #[arg(long, value_name = "COLUMN")]
    pub time: Vec<ColumnName>,
    /// A column of values and its series, as in real=list@/home; a unit may follow in brackets; may be repeated
    #[arg(long = "value", value_name = "COLUMN[=TASK[:PART][@TARGET]][[UNIT]]")]
    pub values: Vec<ValueColumn>,
    /// How times are written: epoch-s, rfc3339, month-day-year, day-month-year, … or a format of strftime [default: guessed]
    #[arg(long, value_name = "FORMAT")]
    pub time_format: Option<TimeFormat>,
    /// Zone of times that name none: a name, an offset, UTC or local
    #[arg(long, visible_alias = "zone", value_name = "ZONE", allow_hyphen_values = true)]
    pub time_zone: Option<String>,
    /// Year of the first line, for times without a year
    #[arg(long, value_name = "YEAR", value_parser = clap::value_parser!(i16).range(1970..=2261))]
    pub year: Option<i16>,
    /// When the measurement began, for times that count from there
    #[arg(long, value_name = "TIME")]
    pub origin: Option<String>,
    /// Unit of values that name none: s, ms, us, ns, min, h, d make durations, any other word makes values
    #[arg(long, value_name = "UNIT")]
    pub unit: Option<ValueUnit>,
    /// What stands before a fraction: point or comma [default: guessed]
    #[arg(long, value_name = "MARK")]
    pub decimal: Option<DecimalMark>,
    /// Task of series that have no other name
    #[arg(long, value_name = "NAME", default_value = "imported", value_parser = parse_text)]
    pub task: String,
    /// Target of series that name none
    #[arg(long, value_name = "NAME", default_value = "")]
    pub target: String,
    /// Host that measured [default: this one]
    #[arg(long, visible_alias = "as-host", value_name = "NAME", value_parser = parse_text)]
    pub host: Option<String>,
    /// Column that names the task of each row
    #[arg(long, value_name = "COLUMN")]
    pub task_column: Option<ColumnName>,
    /// Column that names the target of each row
    #[arg(long, value_name = "COLUMN")]
    pub target_column: Option<ColumnName>,
    /// Column that says how it ended: ok or 0, timeout or 124, anything else is an error
    #[arg(long, value_name = "COLUMN")]
    pub status: Option<ColumnName>,
    /// A regular expression with the groups time and value, and if wanted task, part, target and status
    #[arg(long, visible_alias = "regex", value_name = "EXPRESSION")]
    pub pattern: Option<String>,
    /// What the clock could tell from zero [default: guessed from the digits]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub resolution: Option<Nanoseconds>,
    /// What reaches this was ended there: a time-out; what took over 5 % longer ended late
    #[arg(long, value_name = "DURATION", value_parser = crate::args::values::parse_period)]
    pub deadline: Option<Nanoseconds>,
    /// Rows that may be unreadable and are left out
    #[arg(long, value_name = "COUNT", default_value = "0", value_parser = parse_count)]
    pub skip_bad: u64,
    /// What becomes of rows that say the same at the same time: keep or drop
    #[arg(long, value_name = "WHAT", default_value = "keep")]
    pub identical: IdenticalRows,
    /// What an attempt is of which only the date was written: gap (nobody knows) or hung (it had not ended when the log goes on)
    #[arg(long, value_name = "WHAT", default_value = "gap")]
    pub missing: MissingValues,
    /// What stands between columns: comma, semicolon, tab, bar or spaces [default: guessed]
    #[arg(long, value_name = "NAME")]
    pub separator: Option<Separator>,
    /// Whether the first line names the columns: guess, yes or no
    #[arg(long, value_name = "WHETHER", default_value = "guess", value_parser = parse_header)]
    pub header: HeaderRow,
    /// Lines that begin with this character are not read; none reads all
    #[arg(long, value_name = "CHARACTER", default_value = "#", value_parser = parse_comment)]
    pub comment: CommentMark,
}

/// The character that begins a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommentMark(pub Option<char>);

/// Longest text of a note.
const TEXT_CHARACTERS_MAX: usize = 4000;

/// A path is made absolute at once: the program leaves the current directory before it opens the history. What is neither a path nor a
/// server is refused later: what is refused here is shown, with the passwords that it may hold.
pub(super) fn parse_place(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Err("expected a file or postgres://USER@HOST/DATABASE".to_owned());
    }
    if iolag_store::history::is_path(text) {
        return crate::args::values::parse_file(text).map(|path| path.display().to_string());
    }
    Ok(text.to_owned())
}

/// The same, or `default`.
pub(super) fn parse_place_or_usual(text: &str) -> Result<String, String> {
    if text == USUAL { Ok(text.to_owned()) } else { parse_place(text) }
}

/// One line for people; what steers terminals and turns text around becomes blanks.
fn parse_text(text: &str) -> Result<String, String> {
    let turns = |character: char| matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let clean = |character: char| if character.is_control() || turns(character) { ' ' } else { character };
    let cleaned: String = text.chars().map(clean).collect();
    match cleaned.trim() {
        "" => Err("expected some words".to_owned()),
        cleaned if cleaned.chars().count() > TEXT_CHARACTERS_MAX => Err(format!(
            "expected at most {TEXT_CHARACTERS_MAX} characters; put the rest on a page and name it with --link"
        )),
        cleaned => Ok(cleaned.to_owned()),
    }
}

/// The id of an event or its beginning.
fn parse_event_id(text: &str) -> Result<String, String> {
    const DIGITS_MIN: usize = 4;
    let is_id = text.len() >= DIGITS_MIN && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_id {
        return Ok(text.to_ascii_lowercase());
    }
    Err(format!(
        "expected the id of a note, or at least {DIGITS_MIN} digits of its beginning, as `iolag history notes` lists them"
    ))
}

fn parse_kind(text: &str) -> Result<String, String> {
    const CHARACTERS_MAX: usize = 40;
    let kind = parse_text(text)?;
    if kind.chars().count() > CHARACTERS_MAX {
        return Err(format!("expected a word or two, at most {CHARACTERS_MAX} characters"));
    }
    Ok(kind)
}

/// Pages show links to be followed: only what a browser may be given, and no passwords.
fn parse_link(text: &str) -> Result<String, String> {
    const BYTES_MAX: usize = 2000;
    let lower = text.to_ascii_lowercase();
    let Some(rest) = lower.strip_prefix("https://").or_else(|| lower.strip_prefix("http://")) else {
        return Err("expected a page: http://… or https://…".to_owned());
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.is_empty() || text.len() > BYTES_MAX {
        return Err(format!("expected a page with a host, in at most {BYTES_MAX} bytes"));
    }
    if authority.contains('@') {
        return Err(
            "it names a user or a password before the @: leave them out, everybody reads the history"
                .to_owned(),
        );
    }
    if text.chars().any(|character| {
        character.is_control() || character.is_whitespace() || "<>\"\\^`{|}".contains(character)
    }) {
        return Err("expected no blanks, quotes or brackets in it: write them as %20 and the like".to_owned());
    }
    Ok(text.to_owned())
}

fn parse_header(text: &str) -> Result<HeaderRow, String> {
    match text {
        "guess" => Ok(HeaderRow::Guess),
        "yes" => Ok(HeaderRow::Present),
        "no" => Ok(HeaderRow::Absent),
        _ => Err("expected one of: guess, yes, no".to_owned()),
    }
}

fn parse_comment(text: &str) -> Result<CommentMark, String> {
    let mut characters = text.chars();
    match (text, characters.next(), characters.next()) {
        ("none", ..) => Ok(CommentMark(None)),
        (_, Some(mark), None) => Ok(CommentMark(Some(mark))),
        _ => Err("expected one character, or none".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_pages_without_secrets_are_links() {
        for link in ["https://tickets.example/7", "HTTP://wiki/a?b=c#d", "https://example.org:8443/x@y"] {
            assert_eq!(parse_link(link), Ok(link.to_owned()));
        }
        for (link, expected) in [
            ("javascript:alert(1)", "expected a page"),
            ("file:///etc/passwd", "expected a page"),
            ("https://", "with a host"),
            ("https:///path", "with a host"),
            ("https://me:secret@example.org/", "leave them out"),
            ("https://example.org/a b", "%20"),
            ("https://example.org/\"onclick=", "%20"),
        ] {
            assert!(parse_link(link).unwrap_err().contains(expected), "{link}");
        }
    }

    #[test]
    fn texts_become_one_line() {
        assert_eq!(parse_text(" LDAP\ncache\x1b on "), Ok("LDAP cache  on".to_owned()));
        assert!(parse_text("\n \t").is_err() && parse_text(&"x".repeat(4001)).is_err());
        assert!(parse_kind(&"x".repeat(41)).is_err());
    }

    #[test]
    fn small_choices_are_told() {
        assert_eq!(parse_comment("none"), Ok(CommentMark(None)));
        assert_eq!(parse_comment("%"), Ok(CommentMark(Some('%'))));
        assert!(parse_comment("").is_err() && parse_comment("//").is_err());
        assert_eq!(parse_header("no"), Ok(HeaderRow::Absent));
        assert_eq!(parse_header("maybe"), Err("expected one of: guess, yes, no".to_owned()));
        assert!(parse_place("").is_err() && parse_place_or_usual("").is_err());
        assert_eq!(HistoryPlace::named(&parse_place_or_usual("default").unwrap()).history, None);
        let beside = HistoryPlace::named(&parse_place_or_usual("./default").unwrap()).history.unwrap();
        assert!(beside.starts_with('/') && beside.ends_with("/default"), "{beside}");
    }

    proptest! {
        #[test]
        fn what_is_taken_is_harmless(text in any::<String>()) {
            if let Ok(text) = parse_text(&text) {
                prop_assert!(!text.chars().any(char::is_control) && !text.is_empty());
            }
            if let Ok(link) = parse_link(&text) {
                prop_assert!(link.to_ascii_lowercase().starts_with("http"));
            }
        }
    }
}
