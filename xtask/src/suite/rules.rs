//! The rules that not all tests have in common, each with its reason. A path that no test obeys any more is a fault.

use std::time::Duration;

/// Whether a test that has failed is run again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// Twice more, alone, after all others.
    Twice,
    /// Never, since a failure that is seen once is one too many; what it is about is named.
    Never(&'static str),
}

/// For every test that is not in [`LONGER`].
const LIMIT: Duration = Duration::from_secs(120);

/// Tests, or modules of them, that may take longer: in seconds, and why.
const LONGER: &[(&str, u64, &str)] = &[
    ("iolag::watch_rehearsal", 600, "it plays a bad day in 144 s and analyses it"),
    (
        "iolag::watch_end_to_end::nothing_lost::kills",
        600,
        "it kills a watch 50 times, each time after enough was told",
    ),
    (
        "iolag::watch_end_to_end::nothing_lost::histories",
        300,
        "a server and 120 rounds; SQLite's own patience of 10 s",
    ),
    (
        "iolag::faults_end_to_end",
        400,
        "deadlines and graces of 15 s, tens of whole runs that are killed or stopped",
    ),
    ("iolag-watch::first_contact", 300, "20 rounds of a second each"),
    ("iolag-watch::spool_kills", 300, "it kills a writer 200 times"),
    ("iolag-store::history", 300, "a server with many databases"),
    ("iolag-store::history_kills", 300, "it kills a writer of histories 50 times"),
    ("iolag-workload::tasks::programs", 300, "gigabytes through pipes"),
    (
        "iolag-analysis::history::change_calibration",
        400,
        "rates of false changes, from hundreds of made-up records",
    ),
    ("web::history", 400, "a browser draws tens of pages, figures and papers without a graphics processor"),
    ("web::report", 400, "the same"),
    ("web::serve", 400, "the same, of a server and a watch"),
    ("web::compare", 400, "the same, of runs that it measures before"),
];

/// What must not fail even once. A path stands for the tests below it, a single word for every test with a word in its name that begins so.
const NEVER_AGAIN: &[(&str, &[&str])] = &[
    (
        "lost samples",
        &[
            "lose",
            "lost",
            "acknowledged",
            "iolag::faults_end_to_end::kills",
            "iolag::faults_end_to_end::many_clients",
            "iolag::faults_end_to_end::signals",
            "iolag::faults_end_to_end::stores",
            "iolag::faults_end_to_end::whole_mount",
            "iolag::history_end_to_end::merging",
            "iolag-conduct::lib::storing::draining",
            "iolag::watch_end_to_end::nothing_lost::histories",
            "iolag::watch_end_to_end::nothing_lost::kills",
            "iolag::watch_end_to_end::nothing_lost::restarts",
            "iolag-keeper::contracts",
            "iolag-keeper::lib::shared::ring",
            "iolag-keeper::lib::shared::detail_ring",
            "iolag-model::lib::detail",
            "iolag-model::lib::history",
            "iolag-model::lib::sample",
            "iolag-store::encode",
            "iolag-store::golden",
            "iolag-store::history",
            "iolag-store::history_kills",
            "iolag-store::lib::runs::part",
            "iolag-store::runs",
            "iolag-store::spool",
            "iolag-watch::histories",
            "iolag-watch::lib::memory::spool",
            "iolag-watch::orphans",
            "iolag-watch::restarts",
            "iolag-watch::spool",
            "iolag-watch::spool_compaction",
            "iolag-watch::spool_kills",
        ],
    ),
    (
        "removal",
        &[
            "remov",
            "prune",
            "clean",
            "iolag::faults_end_to_end::check::hangs",
            "iolag::faults_end_to_end::targets",
            "iolag-backend::lib::posix::tests",
            "iolag-store::lib::directory",
            "iolag-store::lib::runs::liveness",
            "iolag-store::lib::runs::run_directory",
            "iolag-workload::lib::tasks::removal",
            "iolag-workload::tasks::killed",
            "iolag-workload::tasks::removal",
        ],
    ),
    (
        "security",
        &[
            "password",
            "secret",
            "redact",
            "hostile",
            "markup",
            "protected",
            "scripts",
            "planted",
            "symbolic",
            "stranger",
            "foreign",
            "iolag::serve_end_to_end::limits",
            "iolag-backend::lib::redact",
            "iolag-keeper::lib::mounts::redaction",
            "iolag-keeper::lib::children::separation",
            "iolag-report::html",
            "iolag-report::lib::html",
            "iolag-report::lib::words::markdown",
            "iolag-store::lib::history::place",
            "iolag-watch::lib::probe::place",
            "iolag-watch::runtime",
            "web::serve",
        ],
    ),
    (
        "calibration",
        &[
            "iolag-analysis::statistics::coverage",
            "iolag-report::findings",
            "iolag-analysis::history::change_calibration",
            "iolag-analysis::history::change_known_answers",
            "iolag-analysis::history::distribution",
            "iolag-analysis::history::summary",
            "iolag-analysis::statistics::known_answers",
        ],
    ),
];

/// How long a test of this name may take.
pub fn limit(name: &str) -> Duration {
    let longer = LONGER.iter().find(|(path, ..)| is_below(name, path));
    longer.map_or(LIMIT, |(_, seconds, _)| Duration::from_secs(*seconds))
}

/// Whether a test of this name is run again when it has failed.
pub fn again(name: &str) -> Again {
    let about = NEVER_AGAIN.iter().find(|(_, patterns)| patterns.iter().any(|pattern| means(pattern, name)));
    about.map_or(Again::Twice, |(about, _)| Again::Never(about))
}

/// Paths and words of the lists that mean none of the tests `names`: something was renamed, and its rule forgotten.
pub fn stale(names: &[&str]) -> Vec<&'static str> {
    let longer = LONGER.iter().map(|(path, ..)| path);
    let patterns = NEVER_AGAIN.iter().flat_map(|(_, patterns)| patterns.iter());
    let is_stale = |pattern: &&&'static str| !names.iter().any(|name| means(pattern, name));
    longer.chain(patterns).filter(is_stale).copied().collect()
}

/// Whether a path or a word means a test.
fn means(pattern: &str, name: &str) -> bool {
    if pattern.contains("::") { is_below(name, pattern) } else { has_word(name, pattern) }
}

/// Whether `name` is `path` or below it.
fn is_below(name: &str, path: &str) -> bool {
    name.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// Whether a word of the test's own name, without its module, begins with `stem`.
fn has_word(name: &str, stem: &str) -> bool {
    let test = name.rsplit("::").next().unwrap_or(name);
    test.split(|letter: char| !letter.is_alphanumeric()).any(|word| word.starts_with(stem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_means_what_is_below_it_and_not_what_begins_like_it() {
        assert!(limit("iolag-watch::spool_kills::two_hundred") > LIMIT);
        assert_eq!(limit("iolag-watch::spool_kills_more::one"), LIMIT);
        assert_eq!(again("iolag-watch::spool::a_frame"), Again::Never("lost samples"));
        assert_eq!(again("iolag-watch::spooling::a_frame"), Again::Twice);
    }

    #[test]
    fn a_word_means_every_test_that_has_it_and_no_module() {
        assert_eq!(again("web::serve::a_hostile_name_stays_text"), Again::Never("security"));
        assert_eq!(again("iolag::removal::what_was_made_is_gone"), Again::Twice);
        assert_eq!(again("iolag::x::it_is_closed"), Again::Twice);
    }
}
