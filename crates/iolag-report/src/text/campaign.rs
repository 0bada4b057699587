//! The runs of a campaign side by side on a terminal: a sweep, repetitions, several targets.

use iolag_analysis::figure::SweepFigure;
use iolag_analysis::{
    RATES_NEEDED, Repetition, RepetitionJudgement, Stability, StageAnalysis, SweepPoint, compare_repetitions,
    median_of, stable_from,
};
use iolag_model::{Phase, counted, format_count};

use super::sweep_table::SweepTable;
use super::table::{Cell, Colour, ColumnGroup, Side, Table, Tone, columns, wrapped};
use crate::words::numbers::{NOTHING, rate};

const INDENT: &str = "  ";

/// One run of a campaign.
#[derive(Debug, Clone)]
pub struct CampaignRun<'a> {
    /// Its name.
    pub id: &'a str,
    /// Its target, secrets removed.
    pub target: &'a str,
    /// Clients.
    pub clients: u32,
    /// Objects that were precreated per dataset.
    pub precreated_objects: u64,
    /// Which repetition, from 1.
    pub repetition: u32,
    /// Its stages.
    pub stages: Vec<StageAnalysis>,
}

impl CampaignRun<'_> {
    fn rates(&self, phase: Phase) -> Vec<f64> {
        self.stages_of(phase).map(|stage| stage.objects_per_second).collect()
    }

    fn stages_of(&self, phase: Phase) -> impl Iterator<Item = &StageAnalysis> {
        self.stages.iter().filter(move |stage| stage.phase == phase)
    }
}

/// What was varied against what it does (`SweepTable`), then a table with a line per run and phase, from which size on results stop changing, and which repetitions differ by more than
/// chance.
pub fn campaign_text(
    runs: &[CampaignRun<'_>],
    sweeps: &[SweepFigure],
    width: usize,
    colour: Colour,
) -> String {
    let phases = phases(runs);
    let mut text = String::new();
    if let Some(table) = SweepTable::new(sweeps) {
        let (title, rendered) =
            (colour.paint(Tone::Strong, table.title), table.for_terminal().render(colour));
        let words = wrapped(table.words, width, "");
        text.push_str(&format!("{title}\n{words}\n\n{rendered}\n"));
    }
    text.push_str(&format!("{}\n", colour.paint(Tone::Strong, "All runs of this campaign")));
    let what = match phases[..] {
        [Phase::Benchmark] => "benchmark phase: objects per second, median, lowest and highest iteration",
        _ => "objects per second, median, lowest and highest iteration",
    };
    text.push_str(&format!("({what})\n\n"));
    text.push_str(&table(runs, &phases).render(colour));
    for sentence in size_sentences(runs, &phases).into_iter().chain(repetition_sentence(runs, &phases)) {
        text.push_str(&format!("\n{}", wrapped(&sentence, width, INDENT)));
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

/// What a campaign compares: the steady phase, or each stage of a batch.
fn phases(runs: &[CampaignRun<'_>]) -> Vec<Phase> {
    const COMPARED: [Phase; 5] =
        [Phase::Benchmark, Phase::BatchCreate, Phase::BatchStat, Phase::BatchRead, Phase::BatchRemove];
    let is_there = |phase: &Phase| runs.iter().any(|run| run.stages_of(*phase).next().is_some());
    COMPARED.into_iter().filter(is_there).collect()
}

fn table(runs: &[CampaignRun<'_>], phases: &[Phase]) -> Table {
    let (left, right) = (Side::Left, Side::Right);
    let has_targets = several_targets(runs);
    let has_phases = phases.len() > 1;
    let mut names = columns([("  run", left)]);
    names.extend(columns([("target", left)]).into_iter().filter(|_| has_targets));
    names.extend(columns([("clients", right), ("per dataset", right), ("repetition", right)]));
    names.extend(columns([("stage", left)]).into_iter().filter(|_| has_phases));
    names.extend(columns([("median", right), ("lowest", right), ("highest", right)]));
    let mut table = Table::new(vec![ColumnGroup { title: String::new(), columns: names }]);
    for run in runs {
        // One that ended before there was anything to compare is still one of the runs.
        let own = if phases.is_empty() { &[Phase::Benchmark][..] } else { phases };
        for phase in own {
            let mut cells = vec![Cell::new(format!("  {}", run.id))];
            cells.extend(has_targets.then(|| Cell::new(run.target)));
            cells.push(Cell::new(run.clients.to_string()));
            cells.push(Cell::new(format_count(run.precreated_objects)));
            cells.push(Cell::new(run.repetition.to_string()));
            cells.extend(has_phases.then(|| Cell::new(phase.name())));
            cells.extend(spread(run.rates(*phase)).map(Cell::new));
            table.row(cells);
        }
    }
    table
}

/// Median, lowest and highest.
fn spread(mut rates: Vec<f64>) -> [String; 3] {
    rates.sort_by(f64::total_cmp);
    match rates[..] {
        [] => ["none", NOTHING, NOTHING].map(str::to_owned),
        [only] => [rate(only), NOTHING.to_owned(), NOTHING.to_owned()],
        [lowest, .., highest] => {
            let median = median_of(&rates).map_or_else(|| NOTHING.to_owned(), rate);
            [median, rate(lowest), rate(highest)]
        }
    }
}

fn several_targets(runs: &[CampaignRun<'_>]) -> bool {
    runs.iter().any(|run| run.target != runs[0].target)
}

/// Sizes that were swept with the same number of clients on the same target.
fn size_sentences(runs: &[CampaignRun<'_>], phases: &[Phase]) -> Vec<String> {
    // What is said, and of which runs.
    let mut said: Vec<(String, Vec<String>)> = Vec::new();
    for (target, clients) in distinct(runs, |run| (run.target, run.clients)) {
        let own: Vec<_> = runs.iter().filter(|run| (run.target, run.clients) == (target, clients)).collect();
        let sizes = distinct(&own, |run| run.precreated_objects);
        if sizes.len() < 2 {
            continue;
        }
        for phase in phases {
            let rates_of = |size: u64| -> Vec<f64> {
                own.iter()
                    .filter(|run| run.precreated_objects == size)
                    .flat_map(|run| run.rates(*phase))
                    .collect()
            };
            let points: Vec<SweepPoint> =
                sizes.iter().filter_map(|size| SweepPoint::of_rates(*size, &rates_of(*size))).collect();
            let mut head = clients_in_words(clients);
            if several_targets(runs) {
                head.push_str(&format!(" on {target}"));
            }
            if phases.len() > 1 {
                head.push_str(&format!(", {}", phase.name()));
            }
            let sentence = if points.len() < sizes.len() {
                format!(
                    "too few passes to say from which size on results stop changing: each size needs {RATES_NEEDED}, by --iterations \
                     or --repeat."
                )
            } else {
                stability_sentence(&stable_from(&points))
            };
            match said.iter_mut().find(|(known, _)| *known == sentence) {
                Some((_, heads)) => heads.push(head),
                None => said.push((sentence, vec![head])),
            }
        }
    }
    said.into_iter().map(|(sentence, heads)| format!("With {}: {sentence}", heads.join(", with "))).collect()
}

fn stability_sentence(stability: &Stability) -> String {
    match stability {
        Stability::From { size } => {
            format!("from {} objects per dataset on, results no longer change.", format_count(*size))
        }
        Stability::NotYet { largest } => format!(
            "results still change up to {} objects per dataset, the largest that was measured; measure larger ones.",
            format_count(*largest)
        ),
        Stability::TooFew { advice } => {
            format!("too few sizes to say from which on results stop changing. {advice}")
        }
    }
}

/// Runs with the same parameters whose passes differ by more than chance, in one sentence.
fn repetition_sentence(runs: &[CampaignRun<'_>], phases: &[Phase]) -> Option<String> {
    let key = |run: &CampaignRun<'_>| (run.target.to_owned(), run.clients, run.precreated_objects);
    let (mut compared, mut differing) = (0_u64, Vec::new());
    for same in distinct(runs, key) {
        for phase in phases {
            let own = runs.iter().filter(|run| key(run) == same);
            let repetitions: Vec<Repetition> =
                own.flat_map(|run| run.stages_of(*phase)).map(StageAnalysis::repetition).collect();
            if repetitions.len() < 2 {
                continue;
            }
            compared += 1;
            if compare_repetitions(&repetitions).judgement == RepetitionJudgement::Differ {
                let (target, clients, objects) = &same;
                let where_ = if several_targets(runs) { format!(" on {target}") } else { String::new() };
                differing.push(format!(
                    "{} {} passes with {} and {} objects per dataset{where_}",
                    repetitions.len(),
                    phase.name(),
                    clients_in_words(*clients),
                    format_count(*objects)
                ));
            }
        }
    }
    differing_in_words(&differing, compared)
}

/// One sentence, whether it is so in one case or in many.
fn differing_in_words(differing: &[String], compared: u64) -> Option<String> {
    let first = differing.first()?;
    let which = match differing.len() {
        1 => format!("The {first}"),
        several => {
            let all = counted(compared, "case", "cases");
            format!("In {several} of {all} passes of the same thing (first the {first})")
        }
    };
    Some(format!(
        "{which} differ more than chance would: look for write-back timers, other users, or caches filling; run longer passes or more \
         of them."
    ))
}

fn clients_in_words(clients: u32) -> String {
    if clients == 1 { "1 client".to_owned() } else { format!("{clients} clients") }
}

/// What `of` gives of these, each once, in ascending order.
fn distinct<T, K: Ord>(items: &[T], of: impl Fn(&T) -> K) -> Vec<K> {
    let mut keys: Vec<K> = items.iter().map(of).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_analysis::{StageTimes, Unfinished, WorkingSetChange};
    use iolag_model::{Nanoseconds, StageIndex};

    fn stage(phase: Phase, iteration: u32, objects_per_second: f64) -> StageAnalysis {
        StageAnalysis {
            stage: StageIndex(0),
            phase,
            iteration,
            times: StageTimes {
                phase_time_ns: Nanoseconds::from_seconds(1),
                first_done_ns: None,
                last_done_ns: None,
                balance_percent: None,
                start_skew_ns: None,
                mean_ns: None,
                standard_deviation_ns: None,
            },
            objects: objects_per_second as u64,
            objects_per_second,
            operations: 0,
            operations_per_second: objects_per_second,
            mebibytes_per_second: 0.0,
            errors: Vec::new(),
            working_set: WorkingSetChange { created: 0, deleted: 0 },
            caches: None,
            rows: Vec::new(),
            clients: Vec::new(),
            unfinished: Unfinished::default(),
        }
    }

    fn run<'a>(id: &'a str, target: &'a str, size: u64, phase: Phase, rates: &[f64]) -> CampaignRun<'a> {
        let stages = (0..).zip(rates).map(|(iteration, rate)| stage(phase, iteration, *rate)).collect();
        CampaignRun { id, target, clients: 2, precreated_objects: size, repetition: 1, stages }
    }

    #[test]
    fn runs_on_several_targets_are_told_apart_and_have_a_spread() {
        let runs = [
            run("20261120-1", "/home", 100, Phase::Benchmark, &[900.0, 1000.0, 1100.0]),
            run("20261120-2", "/scratch", 100, Phase::Benchmark, &[20_000.0]),
            run("20261120-3", "/scratch", 100, Phase::Benchmark, &[]),
        ];
        insta::assert_snapshot!(campaign_text(&runs, &[], 80, Colour::Never), @r"
        All runs of this campaign
        (benchmark phase: objects per second, median, lowest and highest iteration)

          run         target    clients  per dataset  repetition  median  lowest  highest
          20261120-1  /home           2          100           1   1 000   900.0    1 100
          20261120-2  /scratch        2          100           1  20 000       –        –
          20261120-3  /scratch        2          100           1    none       –        –
        ");
    }

    #[test]
    fn the_median_of_two_iterations_is_not_the_better_one() {
        let runs = [run("20261120-1", "/home", 100, Phase::Benchmark, &[109_480.0, 13_781.0])];
        let text = campaign_text(&runs, &[], 80, Colour::Never);
        assert!(text.contains("61 631  13 781  109 480"), "{text}");
    }

    #[test]
    fn a_batch_has_a_line_per_stage_and_not_none() {
        let mut one = run("20261120-1", "/home", 100, Phase::BatchStat, &[900.0]);
        one.stages.push(stage(Phase::BatchRead, 0, 500.0));
        insta::assert_snapshot!(campaign_text(&[one], &[], 80, Colour::Never), @r"
        All runs of this campaign
        (objects per second, median, lowest and highest iteration)

          run         clients  per dataset  repetition  stage       median  lowest  highest
          20261120-1        2          100           1  batch-stat   900.0       –        –
          20261120-1        2          100           1  batch-read   500.0       –        –
        ");
    }

    #[test]
    fn the_size_from_which_on_results_stay_is_named() {
        let sizes = [
            run("a", "/h", 1_000, Phase::Benchmark, &[9e3, 10e3, 11e3]),
            run("b", "/h", 10_000, Phase::Benchmark, &[5e3, 5.5e3, 6e3]),
            run("c", "/h", 100_000, Phase::Benchmark, &[5.2e3, 5.4e3, 7e3]),
        ];
        let text = campaign_text(&sizes, &[], 80, Colour::Never);
        assert!(
            text.contains("With 2 clients: from 10 000 objects per dataset on, results no longer change."),
            "{text}"
        );
    }

    #[test]
    fn with_two_passes_a_size_the_passes_are_too_few_and_not_the_sizes() {
        let sizes = [1_000, 10_000, 100_000].map(|size| run("a", "/h", size, Phase::Benchmark, &[9e3, 10e3]));
        let mut runs = sizes.to_vec();
        runs.extend(sizes.map(|run| CampaignRun { clients: 4, ..run }));
        let text = campaign_text(&runs, &[], 200, Colour::Never);
        assert!(text.contains("With 2 clients, with 4 clients: too few passes to say"), "{text}");
        assert_eq!(text.matches("too few").count(), 1, "once for both: {text}");
    }

    #[test]
    fn passes_that_differ_in_many_cases_are_one_sentence() {
        let passes =
            |clients| format!("2 benchmark passes with {clients} clients and 100 objects per dataset");
        let one = differing_in_words(&[passes(2)], 6).unwrap_or_default();
        assert!(
            one.starts_with("The 2 benchmark passes with 2 clients and 100 objects per dataset differ more")
        );
        let several = differing_in_words(&[passes(2), passes(4)], 6).unwrap_or_default();
        let told = "In 2 of 6 cases passes of the same thing (first the 2 benchmark passes with 2 clients and 100 objects";
        assert!(several.starts_with(told), "{several}");
        assert_eq!(differing_in_words(&[], 6), None);
    }

    #[test]
    fn a_campaign_without_runs_is_told_without_fuss() {
        assert!(campaign_text(&[], &[], 80, Colour::Never).starts_with("All runs of this campaign\n"));
    }
}
