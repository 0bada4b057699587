use iolag_analysis::explain_command;
use iolag_model::{
    Connecting, FileSystem, Nanoseconds, SeenCommand, TraceActivity, TraceCost, TraceElapsed, TraceList,
    TraceLookups, TraceSummary, TraceVain, TracingCost, VainDirectory, Waits,
};

use super::*;

const MS: u64 = 1_000_000;

fn seen(activities: &[(TraceActivityKind, u64, u64)]) -> SeenCommand {
    let activity = |(kind, milliseconds, calls): &(TraceActivityKind, u64, u64)| {
        let time = Nanoseconds(milliseconds * MS);
        TraceActivity { kind: kind.clone(), elapsed_ns: time, tasks_ns: time, calls: *calls }
    };
    let span: u64 = activities.iter().map(|(_, milliseconds, _)| milliseconds * MS).sum();
    let tracing_ns = Nanoseconds(40 * MS);
    SeenCommand {
        program: "python3".into(),
        ended: Some(ProgramEnd::Exited(3)),
        elapsed: TraceElapsed {
            span_ns: Nanoseconds(span + tracing_ns.0),
            tracing_ns,
            activities: activities.iter().map(activity).collect(),
        },
        lists: vec![TraceList { variable: "PYTHONPATH".into(), ..TraceList::default() }],
        cost: TracingCost {
            between_ns: TraceCost { median: Nanoseconds(9000), ..TraceCost::default() },
            ..TracingCost::default()
        },
        summary: TraceSummary { calls: 2523, ..TraceSummary::default() },
        ..SeenCommand::default()
    }
}

fn with_mount(mut seen: SeenCommand, kind: &str, served_by: ServedBy) -> SeenCommand {
    let file_system = FileSystem {
        kind: kind.into(),
        source: "nas:/sw".into(),
        mount_point: "/sw".into(),
        ..FileSystem::default()
    };
    let counted = Counted::Nothing;
    seen.mounts = vec![SeenMount { file_system, served_by, counted, connecting: Connecting::NoServer }];
    seen
}

fn text(seen: SeenCommand) -> String {
    command_explanation_text(&explain_command(seen), 100, Colour::Never)
}

fn with_look_ups() -> SeenCommand {
    let look_ups = TraceActivityKind::LookUps("/sw".into());
    let storage = TraceActivityKind::Storage("/sw".into());
    let mut seen = with_mount(
        seen(&[(look_ups, 850, 1900), (storage, 100, 500), (TraceActivityKind::Processor, 250, 0)]),
        "ext4",
        ServedBy::ThisMachine,
    );
    let directory = VainDirectory {
        path: "/sw/0\u{1b}".into(),
        looked_for: Some("numpy.py".into()),
        calls: 9,
        ..VainDirectory::default()
    };
    let lookups = TraceLookups { calls: 2200, absent: 1900, absent_ns: Nanoseconds(850 * MS) };
    let time_ns = Nanoseconds(800 * MS);
    let in_vain =
        TraceVain { directories: 200, calls: 1800, time_ns, most: vec![directory], ..TraceVain::default() };
    seen.summary = TraceSummary { lookups, in_vain, ..seen.summary };
    seen.summary.time.storage_ns = Nanoseconds(950 * MS);
    seen
}

#[test]
fn each_answer_is_told_in_about_ten_lines() {
    let storage = |milliseconds| (TraceActivityKind::Storage("/sw".into()), milliseconds, 120);
    let mut served = with_mount(
        seen(&[storage(900), (TraceActivityKind::NameService, 100, 12)]),
        "fuse.sshfs",
        ServedBy::Process,
    );
    served.looked_ns = Nanoseconds(1000 * MS);
    served.waits = Waits { looks: 200, functions: vec![("request_wait_answer".into(), 171)] };
    let mut ended = seen(&[(TraceActivityKind::Time, 2000, 1), (TraceActivityKind::Processes, 900, 1)]);
    (ended.ended, ended.cut) = (None, Some("it was told to end".into()));
    ended.past_deadline_ns = Some(Nanoseconds(2900 * MS));
    let mut listed = with_look_ups();
    listed.summary.in_vain.most[0].looked_for = None;
    listed.lists = vec![TraceList {
        variable: "PYTHONPATH".into(),
        directories: 204,
        in_vain: 200,
        calls: 1800,
        tasks_ns: Nanoseconds(800 * MS),
    }];
    let texts = [
        text(with_look_ups()),
        text(listed),
        text(served),
        text(with_mount(seen(&[storage(900)]), "gpfs", ServedBy::Servers)),
        text(seen(&[(TraceActivityKind::NameService, 900, 12)])),
        text(seen(&[(TraceActivityKind::Processor, 900, 0), storage(100)])),
        text(ended),
        text(seen(&[(TraceActivityKind::Unknown, 900, 0)])),
        text(seen(&[
            storage(300),
            (TraceActivityKind::Processor, 400, 0),
            (TraceActivityKind::NameService, 300, 9),
        ])),
        text(seen(&[storage(20)])),
        text(seen(&[])),
    ];
    for text in &texts {
        assert!((5..=18).contains(&text.lines().count()), "{text}");
        assert!(!text.contains('\u{1b}') && text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
    insta::assert_snapshot!(texts.join("\n---\n"));
}
