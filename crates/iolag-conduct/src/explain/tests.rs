//! From what the kernel writes to who is named: the file of a real client, and the same with what a slow network, a slow server or a client with too
//! few slots add to it.

use iolag_analysis::{explain, explain_command};
use iolag_model::{
    Connecting, Counted, ExplanationWord, FileSystem, Layer, ListPair, Nanoseconds, ProbeEnd, Probed,
    SeenCommand, SeenMount, SeenPlace, ServedBy, TraceActivity, TraceActivityKind, TraceElapsed, Waits,
};

use crate::environment::client_counters::ClientCounters;

const RECORDED: &str = include_str!("../environment/recorded/mountstats-5.x");
const NAMES: u64 = 40;

/// What was counted between the recorded reading and one after `requests` more of GETATTR, with so many milliseconds in the queue, under way and in all.
fn counted(requests: u64, [queue, round_trip, execute]: [u64; 3]) -> Counted {
    let take = |text: &str| {
        let proc = tempfile::tempdir().unwrap();
        std::fs::create_dir(proc.path().join("self")).unwrap();
        std::fs::write(proc.path().join("self/mountstats"), text).unwrap();
        let file_system =
            FileSystem { kind: "nfs".into(), mount_point: "/mnt".into(), ..FileSystem::default() };
        ClientCounters::take(&file_system, proc.path(), proc.path())
    };
    let total = requests + 2;
    let later = RECORDED.replace("age:\t159", "age:\t165").replace(
        "GETATTR: 2 2 0 208 224 0 0 0 0",
        &format!("GETATTR: {total} {total} 0 4368 4704 {queue} {round_trip} {execute} 0"),
    );
    assert_ne!(later, RECORDED);
    take(&later).since(&take(RECORDED))
}

/// A place that took so many milliseconds, each time it was asked.
fn place(took: u64, counted: Counted, connecting: Connecting) -> SeenPlace {
    let probed = Probed {
        took_ns: Nanoseconds::from_milliseconds(took),
        end: ProbeEnd::Ended,
        processor_ns: Nanoseconds::from_milliseconds(2),
        counted,
        waits: Waits::default(),
    };
    let pair = ListPair { names: probed.clone(), numbers: probed.clone() };
    SeenPlace {
        directory: "/mnt".into(),
        file_system: FileSystem::default(),
        served_by: ServedBy::Servers,
        names: NAMES,
        first: probed.clone(),
        again: probed,
        pairs: vec![pair; 5],
        start_ns: Nanoseconds::from_milliseconds(2),
        connecting,
    }
}

fn named(took: u64, times: [u64; 3], connecting: Connecting) -> (ExplanationWord, Vec<Layer>) {
    let explained = explain(place(took, counted(NAMES, times), connecting));
    (explained.word, explained.parts[0].layers.clone())
}

#[test]
fn lustre_is_divided_by_what_its_metadata_client_counts() {
    const MDC: &str = include_str!("../environment/recorded/mdc-2.15");
    let take = |mdc: &str| {
        let sys = tempfile::tempdir().unwrap();
        let lustre = sys.path().join("kernel/debug/lustre");
        for (directory, text) in [("llite/scratch-ffff00", ""), ("mdc/scratch-MDT0000-mdc-ffff00", mdc)] {
            std::fs::create_dir_all(lustre.join(directory)).unwrap();
            std::fs::write(lustre.join(directory).join("stats"), text).unwrap();
        }
        let file_system =
            FileSystem { kind: "lustre".into(), source: "mgs@tcp:/scratch".into(), ..FileSystem::default() };
        ClientCounters::take(&file_system, sys.path(), sys.path())
    };
    // 40 requests more, without a line of their own, as look-ups are; in microseconds.
    let counted = |took: u64| {
        let later = MDC.replace(
            "62120440 samples [usecs] 29 1529120 20120330441",
            &format!("62120480 samples [usecs] 29 1529120 {}", 20_120_330_441 + took),
        );
        assert_ne!(later, MDC);
        take(&later).since(&take(MDC))
    };
    let explained = |took: u64| {
        let mut seen = place(2020, counted(took), Connecting::Unknown("it is not tried".into()));
        seen.file_system.kind = "lustre".into();
        explain(seen)
    };
    let slow = explained(2_000_000);
    assert_eq!(
        (&slow.word, &slow.parts[0].layers[..]),
        (&ExplanationWord::Because, &[Layer::Network, Layer::Server][..])
    );
    assert!((slow.parts[0].share - 2000.0 / 2020.0).abs() < 0.001, "{:?}", slow.parts);
    let quick = explained(20_000);
    assert_eq!((&quick.word, &quick.parts[0].layers[..]), (&ExplanationWord::Because, &[Layer::Client][..]));
}

#[test]
fn each_layer_is_named_by_the_counters_of_a_real_client() {
    let far = || Connecting::Took(Nanoseconds::from_milliseconds(48));
    let near = || Connecting::Took(Nanoseconds(200_000));
    let unknown = || Connecting::Unknown("no connection can be opened".into());
    let because = |layers: &[Layer]| (ExplanationWord::Because, layers.to_vec());
    let slow_answers = [4, 2000, 2012];
    assert_eq!(named(2020, slow_answers, far()), because(&[Layer::Network]));
    assert_eq!(named(2020, slow_answers, near()), because(&[Layer::Server]));
    assert_eq!(named(2020, slow_answers, unknown()), because(&[Layer::Network, Layer::Server]));
    assert_eq!(named(2020, [1980, 12, 2000], near()), because(&[Layer::Client]));
    // Nothing of it was asked of the server.
    assert_eq!(named(2020, [0, 0, 0], near()), because(&[Layer::Client]));
    // Others asked it for far more.
    assert_eq!(named(300, slow_answers, far()).0, ExplanationWord::CannotTell);
}

/// A command that was in calls on the recorded mount for so many milliseconds, and computed for 100 more.
fn command(took: u64, counted: Counted, connecting: Connecting) -> SeenCommand {
    let activity = |kind, milliseconds| {
        let time = Nanoseconds::from_milliseconds(milliseconds);
        TraceActivity { kind, elapsed_ns: time, tasks_ns: time, calls: NAMES }
    };
    let file_system = FileSystem { kind: "nfs".into(), mount_point: "/mnt".into(), ..FileSystem::default() };
    SeenCommand {
        elapsed: TraceElapsed {
            span_ns: Nanoseconds::from_milliseconds(took + 100),
            tracing_ns: Nanoseconds::ZERO,
            activities: vec![
                activity(TraceActivityKind::Storage("/mnt".into()), took),
                activity(TraceActivityKind::Processor, 100),
            ],
        },
        mounts: vec![SeenMount { file_system, served_by: ServedBy::Servers, counted, connecting }],
        ..SeenCommand::default()
    }
}

#[test]
fn a_command_on_a_slow_network_or_server_is_explained_by_the_counters_of_a_real_client() {
    let named = |took: u64, times: [u64; 3], connecting: Connecting| {
        let explained = explain_command(command(took, counted(NAMES, times), connecting));
        (explained.word, explained.parts[0].layers.clone())
    };
    let far = || Connecting::Took(Nanoseconds::from_milliseconds(48));
    let near = || Connecting::Took(Nanoseconds(200_000));
    let because = |layers: &[Layer]| (ExplanationWord::Because, layers.to_vec());
    let slow_answers = [4, 2000, 2012];
    assert_eq!(named(2020, slow_answers, far()), because(&[Layer::Network]));
    assert_eq!(named(2020, slow_answers, near()), because(&[Layer::Server]));
    assert_eq!(named(2020, [1980, 12, 2000], near()), because(&[Layer::Client]));
    // The client reads ahead: several requests at the same time.
    assert_eq!(named(700, slow_answers, far()), because(&[Layer::Network]));
    // That much can only be others'.
    assert_eq!(named(200, [4, 5000, 5012], far()).0, ExplanationWord::CannotTell);
}
