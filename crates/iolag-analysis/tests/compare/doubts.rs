//! What to know before a table is believed.

use std::collections::BTreeMap;

use iolag_analysis::RunQuantity;
use iolag_analysis::compare::{CompareOptions, Doubt, Fact, Side, compare_sides, defining_labels};
use iolag_model::{Operation, Order};

use crate::made_up::{HOUR, apart, compared, known, nine, side, usual, with_labels};

fn stats(name: &str) -> Side {
    nine(name, &[(Operation::Stat, 1.0)], 0.01)
}

fn with_facts(mut side: Side, facts: &[(Fact, &str)]) -> Side {
    let facts = || facts.iter().map(|(fact, value)| (fact.clone(), (*value).to_owned()));
    side.units.iter_mut().for_each(|unit| unit.facts.extend(facts()));
    side
}

/// Measured there: kind, source, device, options.
fn at(mut side: Side, target: &str, [kind, source, device, options]: [&str; 4]) -> Side {
    let facts = [
        (Fact::FileSystem, kind),
        (Fact::Source, source),
        (Fact::Device, device),
        (Fact::MountOptions, options),
    ];
    let facts: BTreeMap<Fact, String> =
        facts.into_iter().map(|(fact, value)| (fact, value.to_owned())).collect();
    for unit in &mut side.units {
        unit.values.iter_mut().for_each(|value| value.target = target.to_owned());
        unit.places =
            BTreeMap::from([(target.to_owned(), facts.clone()), ("/elsewhere".to_owned(), BTreeMap::new())]);
    }
    side
}

fn option(name: &str) -> Fact {
    Fact::Option(name.to_owned())
}

fn differs(fact: Fact, values: &[&[&str]]) -> Doubt {
    let list = |values: &&[&str]| values.iter().map(|value| (*value).to_owned()).collect();
    Doubt::Differs { fact, values: values.iter().map(list).collect() }
}

#[test]
fn hosts_that_differ_are_told_by_themselves() {
    let native = with_facts(
        stats("native"),
        &[(Fact::Host, "login1"), (Fact::Processors, "2"), (Fact::Memory, "8 GiB")],
    );
    let nfs =
        with_facts(stats("nfs"), &[(Fact::Host, "es1"), (Fact::Processors, "16"), (Fact::Memory, "8 GiB")]);
    let table = compared(vec![native.clone(), nfs.clone()]);
    let expected =
        [differs(Fact::Host, &[&["login1"], &["es1"]]), differs(Fact::Processors, &[&["2"], &["16"]])];
    assert_eq!(table.doubts, expected);
    // What is not known is no difference, and what was chosen neither.
    assert_eq!(compared(vec![native.clone(), stats("nfs")]).doubts, []);
    let mut chosen = vec![native.clone(), nfs.clone()];
    chosen[0].chosen_by.extend(["host".to_owned(), "processors".to_owned()]);
    assert_eq!(compared(chosen).doubts, []);
    // A side may have several.
    let mut both = stats("both");
    both.units.truncate(4);
    both = with_facts(both, &[(Fact::Host, "login1")]);
    both.units.extend(with_facts(stats("later"), &[(Fact::Host, "login2")]).units);
    let table = compared(vec![with_facts(stats("native"), &[(Fact::Host, "login1")]), both]);
    assert_eq!(table.doubts, [differs(Fact::Host, &[&["login1"], &["login1", "login2"]])]);
}

#[test]
fn options_that_differ_are_told_also_where_one_was_not_given() {
    let native = with_facts(stats("native"), &[(option("objects"), "1000"), (option("seed"), "1")]);
    let nfs = with_facts(
        stats("nfs"),
        &[(option("objects"), "3000"), (option("seed"), "1"), (option("time-limit"), "10.0 s")],
    );
    let table = compared(vec![native, nfs]);
    let expected = [
        differs(option("objects"), &[&["1000"], &["3000"]]),
        differs(option("time-limit"), &[&[], &["10.0 s"]]),
    ];
    assert_eq!(table.doubts, expected);
}

#[test]
fn two_names_of_one_file_system_are_told() {
    let place = ["nfs4", "server:/export", "0:45", "rw"];
    let host = [(Fact::Host, "login1")];
    let one = |name: &str, target: &str, place: [&str; 4]| at(with_facts(stats(name), &host), target, place);
    let sides = || {
        vec![
            one("/a", "/a", place),
            one("/other", "/other", ["nfs4", "server:/other", "0:46", "rw"]),
            one("/b", "/b", place),
        ]
    };
    let table = compared(sides());
    assert_eq!(table.doubts, [Doubt::OneFileSystem { sides: vec![0, 2], device: "0:45".into() }]);
    // The same directory before and after, and the same number on another host.
    assert_eq!(compared(vec![one("before", "/a", place), one("after", "/a", place)]).doubts, []);
    // Also where a third one shares a directory with one of them.
    let three =
        ["quiet", "busy", "other"].map(|name| one(name, if name == "other" { "/b" } else { "/a" }, place));
    let expected = Doubt::OneFileSystem { sides: vec![0, 1, 2], device: "0:45".into() };
    assert!(compared(three.into()).doubts.contains(&expected));
    let mut elsewhere = sides();
    elsewhere[2] = at(with_facts(stats("/b"), &[(Fact::Host, "login2")]), "/b", place);
    assert!(!compared(elsewhere).doubts.iter().any(|doubt| matches!(doubt, Doubt::OneFileSystem { .. })));
}

#[test]
fn two_names_of_one_directory_are_told() {
    let place = ["nfs4", "server:/export", "0:45", "rw"];
    let named = |name: &str, source: &str| {
        let mut side =
            at(with_facts(stats(name), &[(Fact::Host, "login1")]), "/a", ["nfs4", source, "0:45", "rw"]);
        for unit in &mut side.units {
            unit.coordinates.insert("target".to_owned(), name.to_owned());
        }
        side
    };
    let table = compared(vec![named("/a", place[1]), named("/link", place[1])]);
    assert_eq!(table.doubts, [Doubt::OneDirectory { sides: vec![0, 1], directory: "/a".into() }]);
    // Under one mount point there was something else.
    let table = compared(vec![named("/a", place[1]), named("/link", "server:/other")]);
    assert!(
        !table.doubts.iter().any(|doubt| matches!(doubt, Doubt::OneDirectory { .. })),
        "{:?}",
        table.doubts
    );
}

#[test]
fn mounts_are_doubted_where_they_are_not_what_is_compared() {
    let mount = |name: &str, target: &str, options: &str| {
        at(stats(name), target, ["nfs4", "server:/e", "0:45", options])
    };
    let sides = vec![
        mount("a", "/a", "rw,vers=4.2,rsize=1048576,clientaddr=10.0.0.1"),
        mount("b", "/b", "rw,vers=4.2,rsize=65536,clientaddr=10.0.0.2"),
    ];
    assert_eq!(
        compared(sides).doubts,
        [differs(Fact::MountOptions, &[&["rsize=1048576"], &["rsize=65536"]])]
    );
    let only_addresses =
        vec![mount("a", "/a", "rw,clientaddr=10.0.0.1"), mount("b", "/b", "rw,clientaddr=10.0.0.2")];
    assert_eq!(compared(only_addresses).doubts, []);
    let one_more = vec![mount("a", "/a", "rw"), mount("b", "/b", "rw,noatime")];
    assert_eq!(compared(one_more).doubts, [differs(Fact::MountOptions, &[&["none of these"], &["noatime"]])]);
    // Another kind of file system in another place is what was to be compared; in the same place it is not.
    let tmpfs = |target: &str| at(stats("tmp"), target, ["tmpfs", "tmpfs", "0:9", "rw,size=1g"]);
    assert_eq!(compared(vec![mount("a", "/a", "rw"), tmpfs("/tmp")]).doubts, []);
    let expected = [
        differs(Fact::FileSystem, &[&["nfs4"], &["tmpfs"]]),
        differs(Fact::Source, &[&["server:/e"], &["tmpfs"]]),
    ];
    assert_eq!(compared(vec![mount("a", "/a", "rw"), tmpfs("/a")]).doubts, expected);
}

#[test]
fn rates_of_different_patterns_are_doubted_and_durations_are_not() {
    let of = |name: &str, pattern: &str| {
        let mut side = with_facts(stats(name), &[(option("pattern"), pattern), (option("phases"), pattern)]);
        for value in side.units.iter_mut().flat_map(|unit| &mut unit.values) {
            value.amounts.push((RunQuantity::Median, known(1e6)));
        }
        side
    };
    let doubts = |one: &str, other: &str, quantity| {
        let options = CompareOptions { quantity: Some(quantity), ..usual() };
        compare_sides(vec![of("native", one), of("nfs", other)], &options).unwrap().doubts
    };
    let patterns = Doubt::DifferentPatterns { patterns: vec!["code".into(), "batch".into()] };
    assert_eq!(doubts("code", "batch", RunQuantity::Rate), [patterns]);
    let options = |one: &str, other: &str| {
        ["pattern", "phases"].map(|name| differs(option(name), &[&[one], &[other]])).to_vec()
    };
    assert_eq!(doubts("code", "batch", RunQuantity::Median), options("code", "batch"));
    assert_eq!(doubts("code", "paper", RunQuantity::Rate), options("code", "paper"));
}

#[test]
fn one_side_after_the_other_is_told() {
    let rates = [100.0, 101.0, 99.0, 100.0];
    let sides = |from: i64| vec![apart("native", 60, &rates), apart("nfs", from, &rates)];
    let doubts = |from| compared(sides(from)).doubts;
    let apart_ns = |minutes: i64| (minutes * HOUR / 60).unsigned_abs();
    assert_eq!(doubts(240), [Doubt::OneAfterTheOther { first: 0, after: 1, apart_ns: apart_ns(180) }]);
    assert_eq!(doubts(0), [Doubt::OneAfterTheOther { first: 1, after: 0, apart_ns: apart_ns(60) }]);
    assert_eq!(doubts(62), [], "they overlap");
    let one_each = vec![apart("native", 0, &rates[..1]), apart("nfs", 60, &rates[..1])];
    assert_eq!(compared(one_each).doubts, [], "of one run each nothing is said");
    assert_eq!(compared(vec![stats("native"), stats("nfs")]).doubts, [], "they took turns");
}

#[test]
fn others_that_came_one_after_the_other_are_told_where_nobody_was_between() {
    let rates = [100.0, 101.0, 99.0, 100.0];
    let at = |name: &str, minute: i64| apart(name, minute, &rates);
    let told = |sides: Vec<Side>| -> Vec<(usize, usize)> {
        let one = |doubt: &Doubt| match doubt {
            Doubt::OneAfterTheOther { first, after, .. } => (*first, *after),
            doubt => panic!("{doubt:?}"),
        };
        compared(sides).doubts.iter().map(one).collect()
    };
    let base = side("base", [at("base", 0), at("base-again", 500)].map(|side| side.units).concat());
    assert_eq!(told(vec![base.clone(), at("a", 100), at("b", 200), at("c", 300)]), [(1, 2), (2, 3)]);
    assert_eq!(
        told(vec![at("base", 150), at("a", 100), at("b", 200)]),
        [(1, 0), (0, 2)],
        "the base is between"
    );
    assert_eq!(told(vec![base, at("a", 100), at("b", 101)]), []);
}

#[test]
fn a_block_that_was_taken_up_again_days_later_is_told() {
    let days = |side: &mut Side, blocks: &[usize], days: i64| {
        for block in blocks {
            side.units[*block].span_ns.iter_mut().for_each(|moment| *moment += days * 24 * HOUR);
        }
    };
    let doubts = |late: &[usize], campaign_order: Order| {
        let mut sides = vec![stats("native"), stats("nfs")];
        days(&mut sides[1], late, 3);
        let units = sides.iter_mut().flat_map(|side| &mut side.units);
        units.filter_map(|unit| unit.block.as_mut()).for_each(|block| block.order = campaign_order);
        compared(sides).doubts
    };
    let again = |blocks: u32, doubts: &[Doubt]| match doubts {
        [Doubt::TakenUpAgain { blocks: found, of: 9, pause_ns }] => {
            assert_eq!(*found, blocks);
            assert!((71..=72).contains(&(pause_ns / HOUR.unsigned_abs())), "{pause_ns}");
        }
        doubts => panic!("{doubts:?}"),
    };
    again(1, &doubts(&[4], Order::Interleaved));
    again(2, &doubts(&[4, 5], Order::Random));
    assert_eq!(doubts(&[], Order::Interleaved), []);
    assert!(!matches!(doubts(&[4], Order::Sequential)[..], [Doubt::TakenUpAgain { .. }]), "it took no turns");
    // Blocks that all take days are as they were meant to be, and a run that takes long is no pause.
    let mut sides = vec![stats("native"), stats("nfs")];
    days(&mut sides[1], &[0, 1, 2, 3, 4, 5, 6, 7, 8], 3);
    assert!(!compared(sides).doubts.iter().any(|doubt| matches!(doubt, Doubt::TakenUpAgain { .. })));
    let mut sides = vec![stats("native"), stats("nfs")];
    sides[1].units[8].span_ns[1] += 9 * HOUR;
    assert_eq!(compared(sides).doubts, []);
}

#[test]
fn more_than_one_label_that_differs_is_told() {
    let of = |name: &str, labels: &[(&str, &str)]| {
        let mut of = stats(name);
        of.units = of.units.into_iter().map(|unit| with_labels(unit, labels)).collect();
        of
    };
    let doubts = |other: &[(&str, &str)]| {
        let mut sides = vec![
            of("native", &[("client", "native"), ("system", "quiet"), ("site", "here")]),
            of("nfs", other),
        ];
        // As whoever names runs has it.
        let defining = defining_labels(&sides);
        sides.iter_mut().for_each(|side| side.chosen_by.clone_from(&defining));
        compared(sides).doubts
    };
    let told = |other: [&str; 2]| {
        let labels = [["client=native", "system=quiet"], other];
        [Doubt::DifferentLabels { labels: labels.map(|of| of.map(str::to_owned).to_vec()).to_vec() }]
    };
    assert_eq!(
        doubts(&[("client", "nfs"), ("system", "busy"), ("site", "here")]),
        told(["client=nfs", "system=busy"])
    );
    assert_eq!(doubts(&[("client", "nfs"), ("site", "here")]), told(["client=nfs", "no system"]));
    assert_eq!(doubts(&[("client", "nfs"), ("system", "quiet"), ("site", "here")]), []);
}

/// Chosen by one label, pooled by another and by a coordinate of which they have nothing in common.
#[test]
fn what_is_pooled_though_nothing_of_it_is_alike_is_told() {
    let of = |name: &str, version: &str, clients: [&str; 2]| {
        let mut side = stats(name);
        for (at, unit) in side.units.iter_mut().enumerate() {
            unit.labels.insert("version".to_owned(), version.to_owned());
            unit.coordinates.insert("clients".to_owned(), clients[at % 2].to_owned());
        }
        side.chosen_by = ["version".to_owned()].into();
        side
    };
    let doubts = |base: [&str; 2], other: [&str; 2], across: &[&str]| {
        let across = across.iter().map(|name| (*name).to_owned()).collect();
        let sides = vec![of("old", "1", base), of("new", "2", other)];
        compare_sides(sides, &CompareOptions { across, ..usual() }).unwrap().doubts
    };
    let labels = [["clients=1 or clients=2", "version=1"], ["clients=3", "version=2"]];
    let told = Doubt::DifferentLabels { labels: labels.map(|of| of.map(str::to_owned).to_vec()).to_vec() };
    assert!(doubts(["1", "2"], ["3", "3"], &["clients"]).contains(&told));
    assert_eq!(doubts(["1", "2"], ["2", "2"], &["clients"]), []);
    let alone = |name: &str, clients: &str| Side { chosen_by: [].into(), ..of(name, "1", [clients; 2]) };
    let across = CompareOptions { across: vec!["clients".to_owned()], ..usual() };
    let table = compare_sides(vec![alone("a", "1"), alone("b", "4")], &across).unwrap();
    let labels = [["clients=1"], ["clients=4"]].map(|of| of.map(str::to_owned).to_vec()).to_vec();
    assert!(table.doubts.contains(&Doubt::DifferentLabels { labels }), "{:?}", table.doubts);
}

#[test]
fn sides_of_a_plan_that_are_one_directory_are_told() {
    let place = ["ext4", "/dev/vda", "254:0", "rw"];
    let of = |name: &str, facts: &[(Fact, &str)]| {
        let mut side = at(with_facts(stats(name), facts), "/a", place);
        for unit in &mut side.units {
            unit.coordinates
                .extend([("side".to_owned(), name.to_owned()), ("target".to_owned(), "/a".to_owned())]);
        }
        side.chosen_by = ["side".to_owned()].into();
        side
    };
    let told = Doubt::OneDirectory { sides: vec![0, 1], directory: "/a".into() };
    assert_eq!(compared(vec![of("one", &[]), of("two", &[])]).doubts, [told]);
    // A command makes something else of it.
    let loaded = of("two", &[(Fact::Commands, "insmod x")]);
    assert_eq!(compared(vec![of("one", &[]), loaded]).doubts, []);
}

#[test]
fn a_page_cache_of_another_size_is_told() {
    let of = |name: &str, gib: u64| {
        let mut side = stats(name);
        (0..)
            .zip(&mut side.units)
            .for_each(|(at, unit)| unit.page_cache_bytes = Some((gib << 30) + (at << 27)));
        side
    };
    assert_eq!(compared(vec![of("native", 4), of("nfs", 6)]).doubts, []);
    let told = compared(vec![of("native", 4), of("nfs", 60), stats("lnet")]).doubts;
    assert_eq!(
        told,
        [differs(Fact::CacheState, &[&["4.00 GiB to 5.00 GiB"], &["60.0 GiB to 61.0 GiB"], &[]])]
    );
}
