use super::*;
use crate::planning::{READY, Taker};
use iolag_conduct::{CopyTo, Side, SideCommand, plan_metadata};
use iolag_model::{
    Access, CacheState, Durability, Granularity, MetadataSpec, Nanoseconds, OnError, OnHang, Order, Pattern,
    Phase, Stopping, Think, TimeLimit, Verification, WearOut, WorkloadSpec,
};
use iolag_workload::{MetadataOptions, workload};

const BENCH: &str = "[[bench]]\nworkload = \"metadata\"\n";

fn wishes(targets: &[&str]) -> Wishes {
    let targets = targets.iter().map(|target| Target::parse(target).unwrap()).collect();
    let programs = [("mount".to_owned(), PathBuf::from("/bin/mount"))].into();
    Wishes { targets, programs, labels: vec![("night".to_owned(), "1".to_owned())] }
}

fn planned(text: &str, targets: &[&str]) -> Result<Campaign, String> {
    let source = Source { file: "plan.toml", text };
    let document = PlanDocument::parse(&source).map_err(|error| error.to_string())?;
    campaign(source, &document, &wishes(targets), &Limits::default()).map_err(|error| error.to_string())
}

fn refused(text: &str) -> String {
    planned(text, &["memory:"]).unwrap_err()
}

#[test]
fn what_a_plan_does_not_say_is_what_the_command_line_would_not_say() {
    let by_plan = planned(BENCH, &["memory:", "/x"]).unwrap();
    let sides = ["memory:", "/x"].map(|target| Target::parse(target).unwrap().into()).to_vec();
    let labels = vec![("night".to_owned(), "1".to_owned())];
    let options = BenchOptions { sides, labels, ..BenchOptions::default() };
    assert_eq!(by_plan.options, options);
    let typed = plan_metadata(options, &MetadataOptions::default(), &Limits::default()).unwrap();
    let points = |campaign: &Campaign| {
        campaign.runs.iter().map(|run| (run.point.spec.clone(), run.number)).collect::<Vec<_>>()
    };
    assert_eq!(points(&by_plan), points(&typed));
}

#[test]
fn every_key_is_read() {
    let text = "name = \"x\"\norder = \"random\"\nrepeat = 4\nseed = 7\ndeadline = \"3s\"\non-hang = \"wait\"\non-error = \"stop\"\ngive-up-after = \"1m\"\n\
                history = \"default\"\nbuffer = \"64MiB\"\nworking-name = \"w\"\ncaches = \"cold\"\ndrop-command = \"drop\"\nlabels = { system = \"quiet\" }\n[[side]]\nname = \"new\"\ntarget = \"/m\"\n\
                labels = { client = \"new\" }\nbefore = { command = [\"mount\", \"-a\"], deadline = \"5m\" }\nafter = { command = [\"mount\"] }\n\
                [[bench]]\nworkload = \"metadata\"\nclients = [1, \"2\"]\npattern = \"paper\"\ndetail = \"calls\"\ndatasets = 2\nprecreate = [\"1k\"]\n\
                objects = 9\niterations = 5\nobject-size = \"4KiB\"\noffset = 3\nthink = \"2x\"\nread-only = true\ntime-limit = \"9s\"\nwear-out = true\n\
                fsync = true\nverify = true\nphases = [\"precreate\", \"benchmark\", \"cleanup\"]\n";
    let campaign = planned(text, &[]).unwrap();
    let labels = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    let command = |words: &[&str], seconds| {
        let command = words.iter().map(|word| (*word).to_owned()).collect();
        Some(SideCommand { command, deadline: Nanoseconds::from_seconds(seconds) })
    };
    let side = Side {
        target: Target::parse("/m").unwrap(),
        name: Some("new".to_owned()),
        labels: labels(&[("client", "new")]),
        before: command(&["/bin/mount", "-a"], 300),
        after: command(&["/bin/mount"], 60),
    };
    let options = BenchOptions {
        name: Some("x".to_owned()),
        sides: vec![side],
        clients: vec![1, 2],
        crew: iolag_conduct::Crew::Clients,
        repeat: Repeating::Times(4),
        order: Order::Random,
        deadline: Nanoseconds::from_seconds(3),
        on_hang: OnHang::Wait,
        on_error: OnError::Stop,
        give_up_after: Some(Nanoseconds::from_seconds(60)),
        buffer_bytes: Some(64 << 20),
        caches: CacheState::Cold,
        drop_command: Some("drop".to_owned()),
        payload: None,
        bystander: None,
        copy_to: CopyTo::All,
        working_name: "w".to_owned(),
        seed: 7,
        labels: labels(&[("system", "quiet"), ("night", "1")]),
    };
    assert_eq!(campaign.options, options);
    let spec = MetadataSpec {
        pattern: Pattern::Paper,
        granularity: Granularity::Calls,
        phases: vec![Phase::Precreate, Phase::Benchmark, Phase::Cleanup],
        datasets: 2,
        precreated_objects: 1000,
        objects: 9,
        iterations: 5,
        object_bytes: 4096,
        offset: 3,
        think: Think::Factor(2.0),
        access: Access::ReadOnly,
        time_limit: Some(TimeLimit { after_ns: Nanoseconds::from_seconds(9), wear_out: WearOut::Equalise }),
        durability: Durability::Fsync,
        verification: Verification::Content,
        dataset_kind: iolag_model::Datasets::Made,
        connections: iolag_model::Connections::Reused,
    };
    let point = &campaign.runs[0].point;
    assert_eq!(point.spec.workload, WorkloadSpec::Metadata(spec));
    assert_eq!(point.coordinates["side"], "new");
}

#[test]
fn a_history_is_named_from_the_file_on() {
    let history = |place: &str| {
        let text = format!("\nhistory = {place:?}\n{BENCH}");
        let source = Source { file: "/etc/site/plan.toml", text: &text };
        let read = PlanDocument::parse(&source).and_then(|document| document.history(&source));
        read.map(Option::unwrap_or_default).map_err(|error| error.to_string())
    };
    assert_eq!(history("default").unwrap(), "default");
    assert_eq!(history("nights.sqlite").unwrap(), "/etc/site/nights.sqlite");
    assert_eq!(history("postgres://me@db/site").unwrap(), "postgres://me@db/site");
    assert!(history("").unwrap_err().starts_with("/etc/site/plan.toml:2: expected default, the path"));
    let other = history("mysql://me:Geheim@db/x").unwrap_err();
    assert!(other.starts_with("/etc/site/plan.toml:2: ") && !other.contains("Geheim"), "{other}");
}

#[test]
fn errors_name_the_line_and_what_was_expected() {
    for (text, expected) in [
        (format!("\nrepaet = 4\n{BENCH}"), "plan.toml:2: unknown field `repaet`, expected one of `name`"),
        (String::new(), "plan.toml:1: missing field `bench`"),
        ("bench = []".to_owned(), "plan.toml:1: a plan has a [[bench]]"),
        (BENCH.repeat(2), "plan.toml:3: a plan has one [[bench]]"),
        ("[[bench]]\nworkload = \"tape\"".to_owned(), "plan.toml:2: there is no workload \"tape\""),
        (format!("order = \"abba\"\n{BENCH}"), "plan.toml:1: \"abba\": expected one of: interleaved"),
        (format!("repeat = 0\n{BENCH}"), "plan.toml:1: repeat 0 measures nothing"),
        (format!("precision = \"5%\"\n{BENCH}"), "plan.toml:1: precision needs budget"),
        (format!("repeat = 4\nbudget = \"5m\"\n{BENCH}"), "plan.toml:2: budget needs precision"),
        (
            format!("repeat = 4\nbudget = \"5m\"\nprecision = \"5%\"\n{BENCH}"),
            "plan.toml:3: precision decides how often",
        ),
        (format!("precision = \"5\"\n{BENCH}"), "plan.toml:1: \"5\": expected a percentage"),
        (
            format!("budget = \"5m\"\nprecision = \"5%\"\n{BENCH}"),
            "plan.toml:2: precision is that of a comparison",
        ),
        (format!("seed = \"x\"\n{BENCH}"), "plan.toml:1: \"x\": invalid digit"),
        (
            format!("{BENCH}clients = [3,\n2,\n70000]"),
            "plan.toml:5: clients 70000 is more than one node can run",
        ),
        (
            format!("on-hang = \"stop\"\n\ngive-up-after = \"9s\"\n{BENCH}"),
            "plan.toml:3: give-up-after needs on-hang wait",
        ),
        (format!("repeat = \"4x\"\n{BENCH}"), "plan.toml:1: \"4x\" is not a whole number"),
        (format!("repeat = true\n{BENCH}"), "plan.toml:1: expected a number, or a text such as"),
        (format!("deadline = \"15\"\n{BENCH}"), "plan.toml:1: "),
        (format!("{BENCH}clients = [1,\n0]"), "plan.toml:4: clients 0 measures nothing"),
        (format!("{BENCH}clients = [1,\n\"x\"]"), "plan.toml:4: \"x\" is not a whole number"),
        (format!("{BENCH}objects = 5000"), "plan.toml:3: 3000 objects are precreated per dataset"),
        (format!("{BENCH}clients = []"), "plan.toml:3: clients is an empty list"),
        (format!("{BENCH}precreate = []"), "plan.toml:3: precreate is an empty list"),
        (format!("repeat = 4294967296\n{BENCH}"), "plan.toml:1: repeat 4294967296 makes 4 294 967 296 runs"),
        (format!("name = \"a\\nb\"\n{BENCH}"), "plan.toml:1: \"a\\nb\" is no name: expected a line of text"),
        (format!("[[side]]\nname = \" \"\n{BENCH}"), "plan.toml:2: \" \" is no name"),
        (format!("{BENCH}frequency = 1"), "plan.toml:3: unknown field `frequency`"),
        (format!("labels = {{ night = \"2\" }}\n{BENCH}"), "plan.toml:1: the label night is given twice"),
        (format!("labels = {{ \"a=b\" = \"2\" }}\n{BENCH}"), "plan.toml:1: a label has a name, without ="),
        (
            format!("[[side]]\nname = \"a\"\ntarget = \"x\"\n[[side]]\nname = \"b\"\n{BENCH}"),
            "plan.toml:3: expected the path",
        ),
        (
            format!("[[side]]\nname = \"a\"\n[[side]]\nname = \"a\"\n{BENCH}"),
            "plan.toml:4: two sides are called \"a\": give each a name of its own",
        ),
        (
            format!("[[side]]\nname = \"a\"\ntarget = \"/a\"\n{BENCH}"),
            "plan.toml:2: every [[side]] of this plan has its target",
        ),
        (
            format!("[[side]]\nname = \"a\"\nbefore = {{ command = [] }}\n{BENCH}"),
            "plan.toml:3: the command is empty",
        ),
        (
            format!("[[side]]\nname = \"a\"\nbefore = \"mount -o password=geheim /m\"\n{BENCH}"),
            "plan.toml:3: invalid type: string \"mount -o password=***, expected a table such as { command = [\"true\"]",
        ),
        (
            format!("[[side]]\nname = \"a\"\nbefore = [\"true\"]\n{BENCH}"),
            "plan.toml:3: invalid type: sequence, expected a table such as { command = [\"true\"]",
        ),
        (
            format!("[[side]]\nname = \"a\"\nafter = {{ command = [\"true\", \"x\\u0000y\"] }}\n{BENCH}"),
            "plan.toml:3: a word of a command cannot have a NUL in it",
        ),
        (
            "[bench]\nworkload = \"metadata\"".to_owned(),
            "plan.toml:1: invalid type: table, expected several: write it in two pairs of brackets, as in [[bench]]",
        ),
        (
            format!("labels = \"x=1\"\n{BENCH}"),
            "plan.toml:1: invalid type: string \"x=1\", expected a table such as { name = \"value\" }",
        ),
        (format!("{BENCH}clients = 4"), "plan.toml:3: invalid type: integer `4`, expected a list in [ ]"),
        (
            format!("deadline = 3\n{BENCH}"),
            "plan.toml:1: invalid type: integer `3`, expected a text in quotes",
        ),
        (
            format!("[[side]]\nname = \"a\"\nafter = {{ command = [\"nothere\"] }}\n{BENCH}"),
            "plan.toml:3: the program \"nothere\" is not",
        ),
        (
            "every = \"15m\"\n\ntasks = [\"list\"]".to_owned(),
            "plan.toml:1: this is a watch file, and no plan: iolag watch -c plan.toml",
        ),
    ] {
        let refused = refused(&text);
        assert!(refused.starts_with(expected), "{expected}: {refused}");
        assert_eq!(refused.lines().count(), 1, "{refused}");
    }
    let nowhere = planned(BENCH, &[]).unwrap_err();
    assert!(nowhere.starts_with("plan.toml:1: there is nowhere to measure"), "{nowhere}");
    let open = planned(&format!("[[side]]\nname = \"a\"\n{BENCH}"), &[]).unwrap_err();
    assert!(open.starts_with("plan.toml:2: a has no target: name one"), "{open}");
}

#[test]
fn a_plan_may_say_how_precise_its_comparison_is_to_be() {
    let campaign =
        planned(&format!("precision = \"2.5%\"\nbudget = \"2h\"\n{BENCH}"), &["/a", "/b"]).unwrap();
    let budget_ns = Nanoseconds::from_seconds(7200);
    assert_eq!(campaign.options.repeat, Repeating::UntilPrecise(Stopping { precision: 0.025, budget_ns }));
    assert_eq!(campaign.runs.len(), 2 * 63);
}

#[test]
fn several_workloads_are_one_campaign_and_a_tree_may_lie_elsewhere() {
    let text = "repeat = 2\nbystander = [\"stat\", \"create\"]\n[[side]]\nname = \"nfs\"\ntarget = \"/n\"\ntree = \"/n/usr\"\n\
                [[side]]\nname = \"native\"\ntarget = \"/l\"\n\
                [[bench]]\nworkload = \"stream\"\nphases = [\"write\", \"copy\"]\ncopy-to = \"own\"\nfile-size = \"1MiB\"\n\
                [[bench]]\nworkload = \"tree\"\n";
    let campaign = planned(text, &[]).unwrap();
    let points: std::collections::BTreeSet<_> = campaign
        .runs
        .iter()
        .map(|run| {
            let spec = &run.point.spec;
            let who = spec.bystander.as_ref().map_or(0, |bystander| bystander.asked.len());
            (run.point.side.shown(), spec.workload.name(), spec.targets.join(" "), who)
        })
        .collect();
    let point = |side: &str, workload, target: &str, who| (side.to_owned(), workload, target.to_owned(), who);
    let expected = [
        point("nfs", "stream", "/n", 2),
        point("nfs", "tree", "/n/usr", 1),
        point("native", "stream", "/l", 2),
        point("native", "tree", "/l", 1),
    ];
    assert_eq!(points, expected.into());
    assert_eq!(campaign.runs.len(), 8);
    // Whichever comes first: trees have no working place, and what is said of it is meant for the others.
    let (head, benches) = text.split_at(text.find("[[bench]]").unwrap());
    let (stream, tree) = benches.split_at(benches.rfind("[[bench]]").unwrap());
    for benches in [[stream, tree], [tree, stream]] {
        let text = format!("working-name = \"mine\"\n{head}{}", benches.concat());
        assert_eq!(planned(&text, &[]).unwrap().options.working_name, "mine", "{text}");
    }
    let to_all = planned(&text.replace("copy-to = \"own\"\n", ""), &[]).unwrap();
    assert_eq!(to_all.runs.len(), 2 * (4 + 2), "each copies to each");
    let alone = "[[bench]]\nworkload = \"tree\"\n[[bench]]\nworkload = \"tree\"\n";
    assert!(
        planned(alone, &["/a"])
            .unwrap_err()
            .starts_with("plan.toml:3: a plan has one [[bench]] of a workload")
    );
    let unread = format!("[[side]]\nname = \"a\"\ntarget = \"/a\"\ntree = \"/b\"\n{BENCH}");
    assert!(planned(&unread, &[]).unwrap_err().starts_with("plan.toml:4: tree is read by [[bench]]"));
}

#[test]
fn what_is_typed_takes_the_place_of_open_targets() {
    let text =
        format!("[[side]]\nname = \"storage\"\n[[side]]\nname = \"memory\"\ntarget = \"/dev/shm\"\n{BENCH}");
    let sides = |targets: &[&str]| {
        let sides = planned(&text, targets).unwrap().options.sides;
        sides.iter().map(|side| (side.shown(), side.target.to_string())).collect::<Vec<_>>()
    };
    let side = |name: &str, target: &str| (name.to_owned(), target.to_owned());
    assert_eq!(sides(&["/a"]), [side("storage", "/a"), side("memory", "/dev/shm")]);
    let both = [side("storage /a", "/a"), side("storage /b", "/b"), side("memory", "/dev/shm")];
    assert_eq!(sides(&["/a", "/b"]), both);
    let here = std::env::current_dir().unwrap().join("a");
    let here = Target::parse(here.to_str().unwrap()).unwrap().to_string();
    assert_eq!(sides(&["./a", "/b"])[0], side(&format!("storage {here}"), &here));
    let twin = format!("{text}[[side]]\nname = \"storage /a\"\ntarget = \"/c\"\n");
    let twin = twin.replace(BENCH, "") + BENCH;
    let refused = planned(&twin, &["/a", "/b"]).unwrap_err();
    assert!(refused.contains("two sides are called \"storage /a\""), "{refused}");
}

#[test]
fn ready_made_plans_can_be_taken() {
    for ready in &READY {
        match ready.taker {
            Taker::Run => {
                planned(ready.text, &["/scratch"]).unwrap();
                assert!(ready.text.contains(&ready.command()), "{}", ready.name);
            }
            Taker::Watch => {
                crate::watching::Document::parse(ready.name, ready.text).unwrap();
                assert_eq!(ready.text.lines().next(), Some(&*format!("# {}", ready.command())));
                assert!(planned(ready.text, &[]).unwrap_err().contains("this is a watch file"));
            }
        }
    }
}

#[test]
fn the_nightly_plan_takes_less_than_five_minutes_where_an_operation_takes_5_ms() {
    let nightly = READY.iter().find(|plan| plan.name == "nightly").unwrap();
    let campaign = planned(nightly.text, &["/scratch"]).unwrap();
    assert_eq!(campaign.runs.len(), 8);
    let of_storage = campaign.runs.iter().filter(|run| run.point.coordinates["side"] == "storage");
    let operations: u64 =
        of_storage.map(|run| workload(&run.point.spec.workload).samples_expected(1).unwrap()).sum();
    assert!(operations * 5 < 5 * 60 * 1000, "{operations} operations");
}
