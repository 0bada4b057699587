//! `iolag show history` of a year of ten series at one a minute: time on the processor, from the start of the program to its end, and memory at its peak.
//!
//! The rival is an earlier iolag, built as Release from the commit that the requirement names; it is named by `--rival PATH` or in the
//! environment as IOLAG_EARLIER. Both read the same SQLite file from the page cache. Without a rival only our own time is told.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::processes;
use super::setting::{Setting, Size};
use super::short_run::VARIABLE;
use crate::machine;
use crate::pairs::{self, Requirement, Spread, TABLE_HEAD};
use crate::places::output;

/// A pair takes a minute; eight are enough for an interval.
const PAIRS: usize = 8;
/// Against the commit 46ca57f.
const MOST: f64 = 0.5;
const MOST_MIB: u64 = 300;

/// Measures the command that users wait for.
pub fn run(setting: &Setting<'_>) -> Result<()> {
    let ours = setting.places.build("iolag", "iolag", setting.size.optimised())?;
    let (pairs, days, period) = match setting.size {
        Size::Full => (PAIRS, "365", "60"),
        Size::Tiny => (1, "3", "900"),
    };
    let place = setting.scratch("show-history")?;
    let history = imported(setting, &ours, place.path(), [days, period])?;
    let rival = setting.rival.clone().or_else(|| std::env::var_os(VARIABLE).map(PathBuf::from));
    let name = "`show history` of ten series for a year, one a minute";
    if let Some(rival) = rival {
        let comparison =
            pairs::measure(pairs, || processor_s(&ours, &history), || processor_s(&rival, &history))?;
        println!("{TABLE_HEAD}");
        let name = format!("{name}: processor time, against commit 46ca57f");
        println!("{}", comparison.row(&name, "s", Some(Requirement::AtMost(MOST)), &machine::description()));
    } else {
        let seconds = (0..pairs).map(|_| processor_s(&ours, &history)).collect::<Result<Vec<f64>>>()?;
        let median = Spread::of(seconds.into_iter()).median;
        println!("{name} takes {median:.2} s; name an earlier iolag with --rival PATH or {VARIABLE}");
    }
    let peak = processes::watch(show(&ours, &history).spawn().context("starting iolag")?)?;
    let mebibytes = peak.proportional_kib / 1024;
    let verdict = match setting.size {
        Size::Tiny => "not judged",
        Size::Full if mebibytes <= MOST_MIB => "met",
        Size::Full => "missed",
    };
    println!("| {name}: memory at most | {mebibytes} MiB | at most {MOST_MIB} MiB | {verdict} |");
    Ok(())
}

/// A history of these days and seconds from one value to the next.
fn imported(setting: &Setting<'_>, iolag: &Path, place: &Path, size: [&str; 2]) -> Result<PathBuf> {
    let example = setting.build_example("iolag-analysis", "history_cost")?;
    let table = output(Command::new(example).args(size).arg("csv"))?;
    let (csv, history) = (place.join("year.csv"), place.join("history.sqlite"));
    std::fs::write(&csv, &table).with_context(|| format!("writing {}", csv.display()))?;
    let mut command = Command::new(iolag);
    command.arg("import").arg(&csv).arg("--history").arg(&history);
    command.args(["--host", "login1", "--time", "time", "--time-format", "epoch-s", "--time-zone", "UTC"]);
    for column in table.lines().next().unwrap_or_default().split(',').skip(1) {
        let unit = if column.starts_with("users") { "users" } else { "s" };
        command.arg("--value").arg(format!("{column}={column}[{unit}]"));
    }
    output(&mut command)?;
    Ok(history)
}

fn show(iolag: &Path, history: &Path) -> Command {
    let mut command = Command::new(iolag);
    command.args(["show", "history", "--history"]).arg(history);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command
}

fn processor_s(iolag: &Path, history: &Path) -> Result<f64> {
    let before = children_s()?;
    let status = show(iolag, history).status().with_context(|| format!("starting {}", iolag.display()))?;
    ensure!(status.success(), "{} failed: {status}", iolag.display());
    Ok(children_s()? - before)
}

/// Time on the processor of all children that have ended, and theirs, user and system together.
fn children_s() -> Result<f64> {
    // SAFETY: all zeros is a valid rusage, and the call only writes into it.
    let (usage, answer) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        let answer = libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        (usage, answer)
    };
    ensure!(answer == 0, "reading the time of ended processes: {}", std::io::Error::last_os_error());
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    Ok(seconds(usage.ru_utime) + seconds(usage.ru_stime))
}
