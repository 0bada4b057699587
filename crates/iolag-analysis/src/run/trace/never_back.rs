//! Calls on storage that never came back.
//!
//! Who is ended from outside is ended in some call; that says nothing of the storage if the call had only just begun. So it is told from a second on: a
//! system that is well answers within milliseconds, and nobody types Ctrl-C sooner. Where no time is known it is told if a signal ended the
//! program: a text that is merely cut off ends in a call, too.

use iolag_model::{CallWithoutEnd, Nanoseconds, TraceAbout, TraceAnonymity, TraceSummary, WaitEnd};

use crate::finding::Severity;
use crate::finding::of_runs::{NeverBack, RunFinding, RunFound};

/// Who was not answered for so long waits for the storage, not for the end that came by chance.
const WAITED_MIN: Nanoseconds = Nanoseconds::from_seconds(1);

/// The longest of them, with how many there are.
pub(super) fn never_back(summary: &TraceSummary, about: &TraceAbout) -> Option<RunFinding> {
    let has_times = summary.span_ns.0 > 0;
    let is_long = |told: &&CallWithoutEnd| match told.until {
        _ if has_times => told.call.duration_ns >= WAITED_MIN,
        WaitEnd::Killed(_) => true,
        WaitEnd::TraceEnded | WaitEnd::ProcessEnded => false,
    };
    let mut long = summary.never_back.longest.iter().filter(is_long);
    let CallWithoutEnd { call, until } = long.next()?.clone();
    let place = call.path.as_deref().and_then(|path| place(path, about));
    let waited_ns = has_times.then_some(call.duration_ns);
    let found = NeverBack { call, waited_ns, until, calls: 1 + long.count() as u64, place };
    Some(RunFinding::new(RunFound::NeverBack(found), Severity::Serious))
}

/// The mount that a path is on; if that is the root, or not known, the directory that it is in.
fn place(path: &str, about: &TraceAbout) -> Option<String> {
    let (directory, _) = path.rsplit_once('/').filter(|_| about.anonymity == TraceAnonymity::Named)?;
    let is_on =
        |point: &str| path.strip_prefix(point).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let points = about.mounts.iter().map(|mount| mount.point.as_str()).filter(|point| is_on(point));
    let mount = points.max_by_key(|point| point.len());
    let is_absolute = path.starts_with('/');
    is_absolute.then(|| mount.unwrap_or(if directory.is_empty() { "/" } else { directory }).to_owned())
}

#[cfg(test)]
mod tests {
    use iolag_model::{TraceCall, TraceMount, TraceNeverBack};

    use super::*;

    fn traced(calls: &[(&str, u64, WaitEnd)]) -> TraceSummary {
        let longest = calls.iter().map(|(path, milliseconds, until)| CallWithoutEnd {
            call: TraceCall {
                path: Some((*path).to_owned()),
                duration_ns: Nanoseconds::from_milliseconds(*milliseconds),
                ..TraceCall::default()
            },
            until: *until,
        });
        let never_back = TraceNeverBack { calls: calls.len() as u64, longest: longest.collect() };
        TraceSummary { never_back, span_ns: Nanoseconds::from_seconds(20), ..TraceSummary::default() }
    }

    fn found(summary: &TraceSummary, about: &TraceAbout) -> Option<NeverBack> {
        match never_back(summary, about)?.found {
            RunFound::NeverBack(found) => Some(found),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_longest_is_told_and_what_had_only_just_begun_is_not() {
        let calls = [
            ("/data/x", 14_000, WaitEnd::TraceEnded),
            ("/data/y", 1000, WaitEnd::Killed(9)),
            ("/data/z", 999, WaitEnd::Killed(9)),
        ];
        let told = found(&traced(&calls), &TraceAbout::default()).unwrap();
        assert_eq!((told.calls, told.waited_ns), (2, Some(Nanoseconds::from_seconds(14))));
        assert_eq!((told.call.path.as_deref(), told.place.as_deref()), (Some("/data/x"), Some("/data")));
        assert_eq!(found(&traced(&calls[2..]), &TraceAbout::default()), None);
    }

    #[test]
    fn without_times_only_a_signal_says_that_somebody_waited() {
        for (until, is_told) in
            [(WaitEnd::TraceEnded, false), (WaitEnd::ProcessEnded, false), (WaitEnd::Killed(9), true)]
        {
            let summary = TraceSummary { span_ns: Nanoseconds::ZERO, ..traced(&[("/data/x", 0, until)]) };
            let told = found(&summary, &TraceAbout::default());
            assert_eq!(told.is_some(), is_told, "{until:?}");
            assert!(told.is_none_or(|told| told.waited_ns.is_none()));
        }
    }

    #[test]
    fn what_to_ask_is_the_mount_and_of_names_that_are_none_nothing() {
        let mount = |point: &str| TraceMount { point: point.to_owned(), ..TraceMount::default() };
        let summary = traced(&[("/data/a/b/x", 2000, WaitEnd::TraceEnded)]);
        let place = |mounts: &[&str], anonymity| {
            let about = TraceAbout {
                mounts: mounts.iter().map(|it| mount(it)).collect(),
                anonymity,
                ..TraceAbout::default()
            };
            found(&summary, &about).unwrap().place
        };
        assert_eq!(
            place(&["/", "/data", "/data/a", "/dat"], TraceAnonymity::Named).as_deref(),
            Some("/data/a")
        );
        assert_eq!(place(&["/"], TraceAnonymity::Named).as_deref(), Some("/data/a/b"));
        assert_eq!(place(&[], TraceAnonymity::Anonymised), None);
        let relative = traced(&[("a/x", 2000, WaitEnd::TraceEnded)]);
        assert_eq!(found(&relative, &TraceAbout::default()).unwrap().place, None);
    }
}
