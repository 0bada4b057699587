//! docs/calibration.md, written from rows that were measured.
//!
//! Nobody writes into that page by hand. What fails stands first, in full; tables have every number once.

use std::collections::BTreeMap;

use iolag_model::counted;

use crate::compare::FOUND_LEAST;
use crate::measured::{Judgement, Measured, percent};
use crate::row::Done;

/// With fewer campaigns it is a quick form.
const CAMPAIGNS_WHOLE: usize = 1000;

const HEAD: &str = "\
# How often iolag is wrong

This page is written by `cargo xtask calibrate --out docs/calibration.md`; nobody edits it. Records are made of which the whole truth is
known, iolag analyses them, and what it says is compared with the truth. What fails is told like what passes. All counts, with seeds and
limits, are in calibration.jsonl beside this page: there a calibration that was stopped goes on.

- A *campaign* is one such record. `coverage/…`: one series; the same durations go through a run and through a history. `quiet/…`: three
  tasks on two targets in which nothing happens, with two notes and twenty lines of a journal at random times. `power/…`: one series with a
  step. `runs/…`: a check of one directory with 16 operations, or a benchmark with three equal iterations.
- Records of histories have a value every quarter of an hour, up to 20 s late, and one slot in 200 is missing. Durations are log-normal
  (standard deviation of the logarithm 0.6), the number at the end of a row's name is the number of values: 192 are two days, 672 a week,
  2976 a month.
- *Noises*: independent; `ar0.8`: each logarithm resembles the one before with that coefficient; `1-over-f`: the sum of ten such, their time
  scales an octave apart from a slot to five days; `storms`: 3 % of the time, 30 attempts long, 50 times slower; `modes-in-runs`: ten times slower for
  20 attempts on average; `censored`: 2 or 20 % are cut off by a deadline; `coarse-clock`: read in whole tenths of seconds; `daily`: noon takes
  2.7 times as long as midnight, `daily-random`: by another amplitude each day; `weekly`: weekends take half as long;
  `working-hours`: 9 to 17 of working days takes three times as long; `slow-under-noise`: two fifths of the variance last for half a day, the rest is independent; `above-floor`: half of the attempts take equally long, within 6 %,
  the others longer, as a load with a coefficient of 0.9 has it; `drift-1.3`: 30 % slower at the end.
- *Series together*: `daily-shared`: all six are slowest at noon, `daily-apart`: each at an hour of its own; `common-load`: one load explains most of what all six do;
  `control-apart`: storms of each series, and others of a task in memory; `control-together`: storms that all have in common with the task in memory;
  `names-for-nothing`: `ls -l` takes as long as `ls -n`; `nightly-jobs`: a job of each place at 02:00, for about an hour, is 50 times slower;
  `moments-at-work`: 3 % of attempts from 9 to 17 are 50 times slower, and the journal has a line about every noon.
- `bench-200` and `bench-3000` have so many operations in an iteration. `x2-tenth` and `x2-3-percent`: twice as slow for so much of the record at either end; `x4-in-4-days`:
  four times as slow, which takes so long to come about.
  `command-line/…`: twenty campaigns go through `import` and `show`, and their numbers are compared with those of the library.
- `compare/…`: a table of eight cells, nine blocks with a run of either side unless a number at the end says otherwise. *N-percent* is how far runs are apart (standard deviation of the logarithm); the
  attempts of a run leave 2 % more. `ar0.5`: each run resembles the one before. `of-run`: half of the luck is that of all cells of a run. Blocks are A B, B A; `random-order`: drawn for each block; `apart`: all of one side, then all
  of the other (`4-apart`: 25 and 4 runs). `heavy-tails`: Student's t with 3 degrees of freedom; `seldom-slow`: one run in ten is 3.6 times slower; `hung`: so many of the 18 runs are only bounded; `coarse-clock`: a duration has ten steps.
  `precise`: until half of each interval is so narrow, 63 blocks at most. Columns with a colon are methods that iolag does not take. At most 5 % of tables have a false word, intervals hold in 93 %, differences are found in 80 %.
- `compare/shares/…`: the same eight cells by the share of attempts that took too long: `x4`: four times as many of the other side; `0.5-percent`: so many of the base; `5000-and-500`: attempts of a run of either side
  (`once-5`: of the first run of the base). Runs are 5 % apart, in blocks whose order is drawn, or `apart`.
- `compare/days/…`: days of a watch, each of which resembles the one before by as much as `ar0.5` says, and are 30 % apart: `paired` of two targets on the same days, of which the differences are so; `apart` of one before and after a moment, so many of
  either. `1-hung`: one of all is only bounded. `x1.8`: the other side is so much faster, by twice what days are apart. Cells of a table are independent, which is the worst there is. At most 5 % of tables have a false word; what fails tells what so few days may still hide.
- `nights/…`: four cells of a benchmark, four runs of each a night; the number at the end is that of nights. Runs of different nights are 5 % apart, half of the variance is the night's (`of-night`: all), and their attempts
  leave 2 % more. `memory-…`: with the machine's own memory beside it, which is lucky in the same nights (`together`) or in others (`apart`), or becomes 30 % slower in the middle (`steps`). `found`: one cell becomes 1.3 or
  1.1 times as fast in the middle, or in the last nights (`last-3`); it is found if it is dated to within two nights, or a twentieth of all. At most 5 % of tables have a false change; where nights resemble the one before by 0.8 more do, and ten nights do not tell.
- `set-up/…`: `iolag bench setup` with 1, 2, 4 and 8 copies, as many repetitions as the number at the end; runs are so far apart, and half of the variance is that of the repetition. `line`: a copy takes 3 s and 2 s more for each that runs beside it and itself;
  `flat`: 5 s, however many; `upward`: 0.5 s times the square more than `line`; `downward`: 5 s times the square root. At most 5 % of lines are told as curves, and intervals hold the slope in 93 %; of 5 repetitions that are 5 % apart 80 % of curves are found.
- `hosts/…`: as many hosts as the number at the end, each with 400 attempts; the share that takes too long is 1 % on average, and differs between hosts that are alike (standard deviation of the logarithm 0.5). `nothing-matters`: six attributes with two to five values, and three that
  always go together (slots, cores, age), have nothing to do with it; `slots-x5`: on a third of the hosts, which have 28 slots, five times as much takes too long. `nothing-matters-few-attempts`: hosts with 28 slots make 20 attempts instead of 400. At most 5 % of farms blame what does not matter; with a factor of 5 slots are found in 90 %, together with what goes with them.
- `jobs/…`: nodes that run jobs, measured with 4, 8, 12, 16, 24 and 32 copies, as many repetitions as the number at the end; runs are so far apart, half of the variance is that of the repetition, and copies are another 10 % apart.
  `linear`: a set-up takes 40 s and 15 s more for each copy, and is lost after 600 s; the payload takes two hours of one of 24 processors. `steep`: 60 s and 0.6 s times the square, and 20 minutes; `steep-unlimited`: two minutes, and none is lost. `run-payload`: the same with 20 minutes of one of 12 processors that are really run, of which one in twenty fails, and which take longer by a thousandth of the square of the copies. `flat`: 10 s for each copy and no payload, so that no
  number is better than another. `processors`: 20 s and two hours on 12 processors. `storms`: `linear`, and 3 % of all runs are ten times slower, while 2 % may be lost and not 5: no number keeps that. The truth follows from the distribution of a time. The best number, of those that truly keep the limit, is to be in 91 % (182 of 200) of the
  plateaus that are told; in at most 5 % of campaigns a number is advised that truly breaks the limit, or that does over a tenth fewer jobs than the best.
- `compare-real/…`: up to a hundred campaigns that `iolag run` measured on the machine where this page was made, whatever else it did, six blocks each, as `iolag compare` tells of them by rates and by medians. `equal`: memory (`memory:`)
  twice; `delayed`: `delayed:2ms:memory:` twice; `factor`: 2 ms against 4, which is −50.3 to −48 %: a delay is never shorter than what was asked, and longer by what waking up takes, up to a sixth of a millisecond on both sides, and a fortieth more after the longer sleep (medians of 2.005 to 2.02 and 4.016 to 4.05 ms were seen).
  Alone is judged of one cell of each campaign, since the four share their runs' luck. A busy machine calls little the same, and finds less; it must not say more that is false.
- *Limits*: intervals that say 95 % hold the truth in at least 93 % (90 % in storms and 1/f), are printed in at least 95 % of records of independent values and of AR up to 0.8 from 1000 values on (80 % in
  storms of 10,000), and are at most 1.5 times as wide there as those of the oracle; a number that is printed in under a fifth of the campaigns may miss the truth in 7 % of all (10 %); at most 5 % of campaigns have a false finding of one
  kind (10 % under 1/f); steps of 2, 10 and 100 in 1000 values or more are found at least nine tenths as often as in November 2026 (of 1 in the table). The program of that
  month told drifts and load that wanders as steps; beside its numbers stands what an oracle finds that knows the noise and tells a straight line of
  whatever slope, or noise alone, as a step in 0.85 % of series, which is 5 % of campaigns of six. A number **fails** if it would have a probability under 0.001 were the limit true: more than 73 of 1000 at 5 %. With fewer campaigns less fails.
- Brackets under *What fails* hold 95 % intervals (Clopper and Pearson). Numbers that fail are **bold**. A cell is empty where a row does not ask; – is what cannot be computed.
";

/// The page. Rows stand in the order given.
pub fn page(done: &[&Done]) -> String {
    let least = done.iter().map(|one| one.campaigns).min().unwrap_or(0);
    let most = done.iter().map(|one| one.campaigns).max().unwrap_or(0);
    let minutes = done.iter().map(|one| one.seconds).sum::<f64>() / 60.0;
    let campaigns = if least == most { format!("{least}") } else { format!("{least} to {most}") };
    let rows = done.len();
    let mut text =
        format!("{HEAD}\n{rows} rows of {campaigns} campaigns, measured in {minutes:.0} minutes.\n");
    let is_quick = |one: &&&Done| one.campaigns < CAMPAIGNS_WHOLE && !is_of_program(&one.row);
    let quick = done.iter().filter(is_quick);
    match quick.count() {
        0 => {}
        all if all == rows => {
            text += "It is a quick form, which finds what is far from its limit; the whole has 1000 campaigns a row.\n";
        }
        some => {
            text += &format!(
                "{some} of them have fewer than 1000 campaigns, and find only what is far from its limit.\n"
            )
        }
    }
    text += &commits(done);
    text += &failures(done);
    text += &coverage(done);
    text += &wide("False findings of quiet histories", "quiet/", done);
    text += &wide("False conclusions of stationary runs", "runs/", done);
    text += &wide("Equal sides compared", "compare/equal/", done);
    text += &wide("Sides that differ", "compare/found/", done);
    text += &wide("Sides that are nearly the same", "compare/same/", done);
    text += &wide("Equal sides measured until it is precise enough", "compare/precise/", done);
    text += &wide("Sides compared by the share of attempts over a threshold", "compare/shares/", done);
    text += &wide("Days compared, each of which resembles the one before", "compare/days/", done);
    text += &wide("Nights in which nothing changes", "nights/equal/", done);
    text += &wide("Nights from which on something is faster", "nights/found/", done);
    text += &nights_needed(done);
    text += &wide("Copies of a set-up: lines and curves", "set-up/", done);
    text += &wide("Attributes of hosts that explain time-outs", "hosts/", done);
    text += &wide("How many copies of a job to run", "jobs/", done);
    text += &wide("Sides that were really measured", "compare-real/", done);
    text += &wide("The command line against the library", "command-line/", done);
    text += &wide("Steps that are there", "power/", done);
    text
}

/// The command line is asked twenty times only whether it says the same, and campaigns that it measures take time.
fn is_of_program(row: &str) -> bool {
    row.starts_with("command-line/") || row.starts_with("compare-real/")
}

/// With which commits rows were measured: of the one that measured most only how many, of others which. Work that was not committed is told with `+`.
fn commits(done: &[&Done]) -> String {
    let mut rows: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for one in done.iter().filter(|one| !one.commit.is_empty()) {
        rows.entry(&one.commit).or_default().push(&one.row);
    }
    let mut rows: Vec<(&str, Vec<&str>)> = rows.into_iter().collect();
    rows.sort_by_key(|(_, rows)| std::cmp::Reverse(rows.len()));
    let mut lines = rows.iter().enumerate().map(|(place, (commit, rows))| match place {
        0 => format!("Commit {commit} measured {} of them.\n", rows.len()),
        _ => format!("Commit {commit} measured {}.\n", rows.join(", ")),
    });
    lines.next().map_or_else(String::new, |first| format!("\n{first}{}", lines.collect::<String>()))
}

fn failures(done: &[&Done]) -> String {
    let rows: Vec<String> = done
        .iter()
        .flat_map(|row| {
            row.failures().map(|one| format!("| {} | {} | {} |\n", row.row, one.name, one.in_words()))
        })
        .collect();
    if rows.is_empty() {
        return "\n## What fails\n\nNothing.\n".to_owned();
    }
    let rows_failing = done.iter().filter(|row| row.failures().next().is_some()).count();
    format!(
        "\n## What fails\n\n{} of {}.\n\n| row | number | measured |\n|---|---|---|\n{}",
        counted(rows.len() as u64, "number", "numbers"),
        counted(rows_failing as u64, "row", "rows"),
        rows.concat()
    )
}

/// One line for each side and kind of number, one column for each quantity.
fn coverage(done: &[&Done]) -> String {
    const QUANTITIES: [&str; 6] = ["p50", "p90", "p95", "p99", "share 10 %", "share 1 %"];
    let mut text = String::from(
        "\n## Intervals\n\nHow many that were printed hold the truth; how many were printed; their median width by that of an oracle, which knows how \
         far estimates scatter over all campaigns. In storms the first line is of records in which there was one.\n\n\
         | row | | p50 | p90 | p95 | p99 | share over, 10 % | share over, 1 % |\n|---|---|---|---|---|---|---|---|\n",
    );
    for row in done.iter().filter(|row| row.row.starts_with("coverage/")) {
        for side in ["run", "history"] {
            let mut kinds: Vec<&str> = Vec::new();
            let prefix = format!("{side} {}: ", QUANTITIES[0]);
            kinds.extend(row.measured.iter().filter_map(|one| one.name.strip_prefix(&prefix)));
            for kind in kinds {
                let cell = |quantity: &&str| {
                    let name = format!("{side} {quantity}: {kind}");
                    row.measured.iter().find(|one| one.name == name).map_or_else(String::new, cell_of)
                };
                let cells: Vec<String> = QUANTITIES.iter().map(cell).collect();
                text += &format!("| {} | {side}, {kind} | {} |\n", row.row, cells.join(" | "));
            }
        }
    }
    text
}

/// One line for each row, one column for each number that any of them has.
fn wide(title: &str, prefix: &str, done: &[&Done]) -> String {
    let rows: Vec<&&Done> = done.iter().filter(|row| row.row.starts_with(prefix)).collect();
    let mut names: Vec<&str> = Vec::new();
    for one in rows.iter().flat_map(|row| &row.measured) {
        if !names.contains(&one.name.as_str()) {
            names.push(&one.name);
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let mut text =
        format!("\n## {title}\n\n| row | {} |\n|---{}|\n", names.join(" | "), "|---".repeat(names.len()));
    for row in rows {
        let cell =
            |name: &&str| row.measured.iter().find(|one| one.name == *name).map_or_else(String::new, cell_of);
        let cells: Vec<String> = names.iter().map(cell).collect();
        text += &format!("| {} | {} |\n", row.row, cells.join(" | "));
    }
    text
}

/// After how many nights a step of 10 % is found, of those numbers that were asked.
fn nights_needed(done: &[&Done]) -> String {
    const STEPS: &str = "nights/found/x1.1/";
    let nights = |row: &Done| row.row.strip_prefix(STEPS)?.parse::<usize>().ok();
    let found = |row: &Done| row.measured.iter().find(|one| one.name == "found")?.value();
    let mut asked: Vec<(usize, f64)> =
        done.iter().filter_map(|row| Some((nights(row)?, found(row)?))).collect();
    asked.sort_unstable_by_key(|(nights, _)| *nights);
    match asked.iter().find(|(_, found)| *found >= FOUND_LEAST) {
        Some((nights, _)) => format!(
            "\nA step of 10 % in the middle, at a spread of 5 %, is found in 80 % of tables of {nights} nights, and in fewer of those of less that were asked.\n"
        ),
        None => String::new(),
    }
}

fn cell_of(one: &Measured) -> String {
    let is_share = matches!(one.amount, crate::measured::Amount::Share { .. });
    let value = one.value().map_or_else(
        || "–".to_owned(),
        |value| if is_share { percent(value) } else { format!("{value:.2}") },
    );
    if one.judgement() == Judgement::Fails { format!("**{value}**") } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measured::Limit;

    #[test]
    fn the_page_says_after_how_many_nights_a_step_is_found() {
        let row = |name: &str, found| done(name, vec![Measured::share("found", found, 100, Limit::Untold)]);
        let rows = [
            row("nights/found/x1.1/90", 99),
            row("nights/found/x1.1/30", 79),
            row("nights/found/x1.1/40", 80),
            row("nights/found/x1.1/of-night/10", 99),
        ];
        let told = |rows: &[Done]| nights_needed(&rows.iter().collect::<Vec<_>>());
        assert!(told(&rows).contains("tables of 40 nights"), "{}", told(&rows));
        assert_eq!(told(&rows[1..2]), "");
    }

    fn done(row: &str, measured: Vec<Measured>) -> Done {
        Done {
            row: row.to_owned(),
            campaigns: 100,
            seed: 1,
            seconds: 60.0,
            commit: "e024383".to_owned(),
            measured,
        }
    }

    #[test]
    fn what_fails_stands_first_and_is_bold_in_its_table() {
        let quiet = done(
            "quiet/storms/672",
            vec![
                Measured::share("changed", 40, 100, Limit::AtMost(0.05)),
                Measured::share("period", 1, 100, Limit::AtMost(0.05)),
            ],
        );
        let width = Measured::ratio("run p50: width", Some(1.234), None);
        let coverage = done("coverage/storms/672", vec![width]);
        let page = page(&[&coverage, &quiet]);
        assert!(page.contains("2 rows of 100 campaigns, measured in 2 minutes."), "{page}");
        assert!(page.contains("It is a quick form"), "{page}");
        assert!(page.contains("| quiet/storms/672 | changed | 40 of 100, 40.0 % ["), "{page}");
        assert!(page.contains("| quiet/storms/672 | **40.0 %** | 1.0 % |"), "{page}");
        assert!(page.contains("| coverage/storms/672 | run, width | 1.23 |  |"), "{page}");
        assert!(super::page(&[]).contains("Nothing."));
    }

    #[test]
    fn rows_tell_which_commit_measured_them() {
        let of = |row: &str, commit: &str| Done { commit: commit.to_owned(), ..done(row, vec![]) };
        let rows =
            [of("power/a", "abcdef0+"), of("quiet/a", "1234567"), of("quiet/b", "1234567"), of("runs/a", "")];
        let page = page(&rows.each_ref());
        let told = "\nCommit 1234567 measured 2 of them.\nCommit abcdef0+ measured power/a.\n";
        assert!(page.contains(told), "{page}");
        assert!(!super::page(&[&rows[3]]).contains("Commit"));
    }
}
