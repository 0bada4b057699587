//! What the user can type of comparisons.

use std::path::PathBuf;

use clap::Args;
use iolag_analysis::RunQuantity;
use iolag_analysis::compare::FailRule;
use iolag_backend::Target;
use iolag_model::Phase;

use crate::args::history::{HISTORY, HistoryPlace};
use crate::args::values::{parse_any_phase, parse_file, parse_label};

/// What `--same-within` is if it is not given.
pub const SAME_WITHIN: f64 = 0.05;

/// `iolag compare`.
#[derive(Debug, Args)]
pub struct Compare {
    /// What is compared; the first is the base. A run (its id, a part of it that no other has, `last`, or a path, also to one of another
    /// host), a baseline by its name, `campaign:RUN` (all runs of its campaign; alone: its sides, targets or sessions are compared),
    /// `campaign:RUN:TARGET` (or the name of a side), `label:NAME=VALUE`, or `history:TARGET@SINCE..UNTIL` (days that a watch saw, or
    /// benchmarks that a history remembers; each part may be left out)
    #[arg(value_name = "SIDE", required = true, value_parser = parse_side)]
    pub sides: Vec<SideName>,
    /// What of the runs is compared: rate, median, p95, throughput or over:DURATION (the share that took longer) [default: the median; the
    /// rate where each operation has its own; of streams the throughput]
    #[arg(long, value_name = "VALUE")]
    pub value: Option<RunQuantity>,
    /// Of histories: only benchmarks of this workload, such as metadata or check
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,
    /// Call sides the same if they differ by less than this
    #[arg(long, value_name = "PERCENT", default_value = "5%", allow_hyphen_values = true, value_parser = parse_same_within)]
    pub same_within: f64,
    /// Pool runs that differ in these labels or coordinates [default: like is compared with like]
    #[arg(long, value_name = "LABEL,…", value_delimiter = ',')]
    pub across: Vec<String>,
    /// Compare these phases too, such as precreate and cleanup
    #[arg(long, value_name = "PHASE,…", value_delimiter = ',', value_parser = parse_any_phase)]
    pub phases: Vec<Phase>,
    /// Of labels and histories: only what began from then on, as in 30d, yesterday, 2008-05-08 or "2008-05-08 14:00"
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Of labels and histories: only what began before then
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub place: HistoryPlace,
    /// Exit with 1 if the interval lies beyond, as in 'p95 > 1.1x' or 'create rate < 0.9x'; may be repeated
    #[arg(long = "fail-if", value_name = "RULE")]
    pub rules: Vec<FailRule>,
    /// Exit with 1 also where a rule cannot be told from so few runs
    #[arg(long, requires = "rules")]
    pub fail_unless_shown: bool,
    /// Form of what is printed: text, csv or markdown
    #[arg(long, value_name = "FORM", default_value = "text", value_parser = parse_compare_form)]
    pub format: CompareForm,
    /// Explain the comparison in this HTML file
    #[arg(long, value_name = "FILE", value_parser = parse_file)]
    pub report: Option<PathBuf>,
}

impl Compare {
    /// These sides, and otherwise what is usual.
    pub const fn of(sides: Vec<SideName>) -> Self {
        Self {
            sides,
            value: None,
            workload: None,
            same_within: SAME_WITHIN,
            across: Vec::new(),
            phases: Vec::new(),
            since: None,
            until: None,
            place: HistoryPlace { history: None },
            rules: Vec::new(),
            fail_unless_shown: false,
            format: CompareForm::Text,
            report: None,
        }
    }
}

/// Form of a table of sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompareForm {
    /// For a terminal.
    Text,
    /// A line per cell.
    Csv,
    /// For a ticket.
    Markdown,
}

/// A side as it was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideName {
    /// As it was typed.
    pub text: String,
    /// What it chooses.
    pub choice: SideChoice,
}

/// What a side is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SideChoice {
    /// A run or a baseline, whichever has this name; or the path of a run.
    Named,
    /// A campaign.
    Campaign {
        /// A run of it.
        run: String,
        /// Only its runs on this target, or of this side.
        part: Option<String>,
    },
    /// The runs with a label.
    Label {
        /// Its name.
        name: String,
        /// Its value.
        value: String,
    },
    /// What a history has.
    History(HistorySide),
}

/// Which part of a history is a side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistorySide {
    /// The target; all of them without it.
    pub target: Option<String>,
    /// From when on, if not from where all sides begin.
    pub since: Option<String>,
    /// Until when, if not to where all sides end.
    pub until: Option<String>,
}

const CAMPAIGN: &str = "campaign";
const LABEL: &str = "label";
/// Between the ends of a span.
const TO: &str = "..";

/// A word before a colon says what is chosen; no name of a run or a baseline has one, and a path has a slash before it.
pub fn parse_side(text: &str) -> Result<SideName, String> {
    let choice = match text.split_once(':') {
        None | Some(("", _)) => SideChoice::Named,
        Some((word, _)) if word.contains('/') => SideChoice::Named,
        Some((CAMPAIGN, rest)) => {
            let (run, part) = rest.split_once(':').map_or((rest, None), |(run, part)| (run, Some(part)));
            if run.is_empty() || part == Some("") {
                return Err("expected campaign:RUN, or campaign:RUN:TARGET".to_owned());
            }
            SideChoice::Campaign { run: run.to_owned(), part: part.map(str::to_owned) }
        }
        Some((LABEL, rest)) => {
            let (name, value) = parse_label(rest).map_err(|_| "expected label:NAME=VALUE".to_owned())?;
            SideChoice::Label { name, value }
        }
        Some((HISTORY, rest)) => SideChoice::History(parse_history(rest)?),
        Some((word, rest)) => return Err(unknown_choice(word, rest)),
    };
    if text.is_empty() {
        return Err(
            "expected a run, a baseline, campaign:RUN, label:NAME=VALUE or history:TARGET@SINCE..UNTIL"
                .to_owned(),
        );
    }
    Ok(SideName { text: text.to_owned(), choice })
}

/// A target may have an @ of its own: only one before a span ends it.
fn parse_history(text: &str) -> Result<HistorySide, String> {
    let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    match text.rsplit_once('@').map(|(target, span)| (target, span, span.split_once(TO))) {
        Some((target, _, Some((since, until)))) => {
            Ok(HistorySide { target: given(target), since: given(since), until: given(until) })
        }
        Some((target, moment, None)) if !moment.contains('/') => Err(format!(
            "expected history:TARGET@SINCE..UNTIL, either end of which may be left out: \
             history:{target}@{moment}.. is what began from then on"
        )),
        _ => Ok(HistorySide { target: given(text), since: None, until: None }),
    }
}

fn unknown_choice(word: &str, rest: &str) -> String {
    const LETTERS_MOST: usize = 2;
    let near = [CAMPAIGN, LABEL, HISTORY]
        .into_iter()
        .find(|known| strsim::osa_distance(known, word) <= LETTERS_MOST);
    let nearest = near.map(|known| format!("; did you mean {known}:{rest}?")).unwrap_or_default();
    if Target::parse(&format!("{word}:{rest}")).is_ok_and(|target| target.directory().is_none()) {
        return "this is where to measure, and no run: measure there and elsewhere (iolag bench metadata DIR OTHER --repeat 6), then \
                iolag compare campaign:last"
            .to_owned();
    }
    format!("{word}: says nothing of what is compared, expected campaign:, label: or history:{nearest}")
}

/// A share that differs so little that it counts as the same.
///
/// # Errors
/// If it is no percentage from more than 0 % to 100 %.
pub fn parse_same_within(text: &str) -> Result<f64, String> {
    let percent = text.strip_suffix('%').and_then(|number| number.trim_end().parse::<f64>().ok());
    match percent {
        Some(percent) if percent > 0.0 && percent <= 100.0 => Ok(percent / 100.0),
        _ => Err("expected a percentage of more than 0% and at most 100%, as in 5%".to_owned()),
    }
}

fn parse_compare_form(text: &str) -> Result<CompareForm, String> {
    match text {
        "text" => Ok(CompareForm::Text),
        "csv" => Ok(CompareForm::Csv),
        "markdown" => Ok(CompareForm::Markdown),
        "json" => {
            Err("expected one of: text, csv, markdown; for JSON write --json FILE, or --json -".to_owned())
        }
        _ => Err("expected one of: text, csv, markdown".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_says_what_it_chooses() {
        let choice = |text: &str| parse_side(text).map(|side| side.choice);
        let campaign = |run: &str, part: Option<&str>| {
            Ok(SideChoice::Campaign { run: run.to_owned(), part: part.map(str::to_owned) })
        };
        for named in ["last", "20261128-101112-ab12", "nightly", "/stores/a/runs/2026:1", "./x:y"] {
            assert_eq!(choice(named), Ok(SideChoice::Named), "{named}");
        }
        assert_eq!(choice("campaign:last"), campaign("last", None));
        let delayed = "delayed:2ms:memory:";
        assert_eq!(choice(&format!("campaign:ab12:{delayed}")), campaign("ab12", Some(delayed)));
        let label = SideChoice::Label { name: "client".to_owned(), value: "a=b".to_owned() };
        assert_eq!(choice("label:client=a=b"), Ok(label));
        let history = |target: Option<&str>, since: Option<&str>, until: Option<&str>| {
            let [target, since, until] = [target, since, until].map(|part| part.map(str::to_owned));
            Ok(SideChoice::History(HistorySide { target, since, until }))
        };
        assert_eq!(choice("history:"), history(None, None, None));
        assert_eq!(choice("history:/scratch"), history(Some("/scratch"), None, None));
        assert_eq!(choice("history:@..30d"), history(None, None, Some("30d")));
        let around = "history:o2ib@10.0.0.1:/lustre@2026-11-10 14:00..";
        assert_eq!(
            choice("history:o2ib@10.0.0.1:/lustre"),
            history(Some("o2ib@10.0.0.1:/lustre"), None, None)
        );
        assert!(
            choice("history:/scratch@2026-11-10").unwrap_err().contains("history:/scratch@2026-11-10.. is")
        );
        assert_eq!(choice(around), history(Some("o2ib@10.0.0.1:/lustre"), Some("2026-11-10 14:00"), None));
        assert!(choice("lable:client=nfs").unwrap_err().ends_with("did you mean label:client=nfs?"));
        for bad in ["", "campaign:", "campaign:x:", "label:client", "label:=x", "history:@x", "histry:/x"] {
            assert!(choice(bad).unwrap_err().contains("expected"), "{bad}");
        }
    }

    #[test]
    fn what_counts_as_the_same_is_a_percentage() {
        assert_eq!(parse_same_within("5%"), Ok(0.05));
        assert_eq!(parse_same_within("2.5 %"), Ok(0.025));
        for bad in ["5", "0%", "-1%", "101%", "nan%", "%", ""] {
            assert!(parse_same_within(bad).is_err(), "{bad}");
        }
    }
}
