//! Tests of the words for two places, and for where time goes.

use super::*;

#[test]
fn a_place_that_hangs_is_not_quicker_than_one_that_answers() {
    let mut noise = Random::new(3);
    let mut usual = |milliseconds: f64| -> u64 { (milliseconds * (0.2 * noise.normal()).exp()) as u64 };
    let live = columns_of((0..80).map(|slot| (slot * 5, usual(450.0), Outcome::Ok)));
    let frozen = |hung: Option<ProbeId>, usual: &mut dyn FnMut(f64) -> u64| {
        let mut columns = columns_of((0..80).map(|slot| match slot < 30 || hung.is_none() {
            true => (slot * 5, usual(10.0), Outcome::Ok),
            false => (slot * 5, 0, Outcome::Skipped),
        }));
        columns.blocker[30..].fill(hung.unwrap_or_default());
        columns
    };
    let outage = Outage {
        kind: Default::default(),
        targets: Default::default(),
        host: series_of("/frozen", "create").key.host,
        mount: "/frozen".to_owned(),
        probe: ProbeId(99),
        begin: WallTime::from_seconds(149),
        end: None,
        ending: None,
        skipped: 50,
    };
    let mut praises = |hung: Option<ProbeId>| {
        let input = HistoryInput {
            series: vec![
                (series_of("/live", "create"), live.clone()),
                (series_of("/frozen", "create"), frozen(hung, &mut usual)),
            ],
            outages: hung.map(|_| outage.clone()).into_iter().collect(),
            ..HistoryInput::default()
        };
        told_of(&input).iter().any(|one| one.sentence.starts_with("`create` on /live takes"))
    };
    assert!(praises(None), "a quicker place is told as such");
    assert!(!praises(Some(ProbeId(99))));
}

/// A day of quarter hours in which a task takes so long, and its processor so much of it.
fn spent(target: &str, task: &str, milliseconds: u64, processor_seconds: f64) -> (Series, HistoryColumns) {
    let mut columns = columns_of((0..96).map(|slot| (slot * 900, milliseconds, Outcome::Ok)));
    columns.processor_seconds = vec![processor_seconds; columns.len()];
    (series_of(target, task), columns)
}

fn told(mut series: Vec<(Series, HistoryColumns)>) -> Vec<String> {
    for (series, _) in series.iter_mut().filter(|(series, _)| series.key.target == "memory") {
        series.kind = SeriesKind::Control;
    }
    told_of_kind(FindingKind::Waiting, series).into_iter().map(|told| told.sentence).collect()
}

#[test]
fn a_compiler_that_waits_for_storage_is_told_from_one_that_waits_for_its_host() {
    let home = || spent("/home", "compile", 2000, 0.5);
    let storage = told(vec![home(), spent("memory", "compile", 600, 0.5)]);
    assert_eq!(
        storage,
        [
            "`compile` on /home waits for most of its time: 1.50 s against a processor time of 500 ms (medians); in the host's own memory it waits 100 ms."
        ]
    );
    let host = told(vec![home(), spent("memory", "compile", 1800, 0.5)]);
    assert!(
        host[0].ends_with("it waits 1.30 s as well, so it waits for this host and not for the storage."),
        "{host:?}"
    );
    assert_eq!(told(vec![home()]).len(), 1, "without a control, too");
}

#[test]
fn a_compiler_that_computes_is_not_slow_because_of_storage() {
    let computes = told(vec![spent("/home", "compile", 2000, 1.9)]);
    assert!(computes[0].contains("hardly waits"), "{computes:?}");
    assert_eq!(told(vec![spent("/home", "compile", 2000, 1.3)]), [""; 0]);
}

#[test]
fn what_nobody_feels_and_what_waits_by_nature_is_not_told() {
    assert_eq!(told(vec![spent("/home", "compile", 300, 0.05)]), [""; 0]);
    assert_eq!(told(vec![spent("/home", "create", 3000, 0.05)]), [""; 0]);
    assert_eq!(told(vec![spent("/home", "compile", 2000, f64::NAN)]), [""; 0]);
}
