//! Configurations by day, attributes of hosts that explain what takes too long, and what was read of a server.

use iolag_model::{
    Configuration, ConfigurationKey, HistoryRecord, HistorySample, Nanoseconds, Outcome, ProbeId, Random,
    Series, SeriesKey, SeriesKind, WallTime,
};
use serde_json::Value;

use crate::user::User;

/// 2010-11-01, midnight UTC.
const BEGIN_SECONDS: i64 = 1_288_569_600;
const HOSTS: usize = 40;
const SLOTS: i64 = 5 * 24;

/// Forty nodes of a farm set a job up every hour, five days long: where 28 jobs run at once one in eight is ended at 600 s. A node with 28 slots has 24
/// cores and is new; on which client it has, nothing depends.
fn farm(user: &User) {
    let mut noise = Random::new(2011);
    let mut lines = String::new();
    for host in 0..HOSTS {
        let key = SeriesKey {
            host: format!("wn{host:02}"),
            target: "/afs".to_owned(),
            task: "job-setup".to_owned(),
            part: String::new(),
        };
        let (slots, cores) = if host.is_multiple_of(2) { ("28", "24") } else { ("21", "16") };
        let client = ["1.4.12", "1.5.78"][noise.below(2) as usize];
        let facts = [("slots", slots), ("cores", cores), ("client_version", client), ("kernel", "2.6.18")];
        let configuration = Configuration {
            key: ConfigurationKey(host as u64 + 1),
            host: key.host.clone(),
            target: key.target.clone(),
            first_seen: WallTime::from_seconds(BEGIN_SECONDS),
            facts: facts.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        };
        let samples = (0..SLOTS).map(|slot| {
            let is_ended = slots == "28" && noise.below(8) == 0;
            let seconds = 200.0 * (0.3 * noise.normal()).exp();
            let (seconds, outcome) =
                if is_ended { (600.0, Outcome::Timeout) } else { (seconds, Outcome::Ok) };
            let (start, taken) = (BEGIN_SECONDS + slot * 3600, Nanoseconds((seconds * 1e9) as u64));
            let probe = ProbeId(slot as u64 + 1);
            let sample =
                HistorySample::new(key.clone(), probe, WallTime::from_seconds(start), taken, outcome);
            HistoryRecord::Sample(HistorySample { configuration: Some(configuration.key), ..sample })
        });
        let series = Series {
            key: key.clone(),
            kind: SeriesKind::Task,
            resolution_ns: Nanoseconds::ZERO,
            period_ns: Nanoseconds::from_seconds(3600),
            deadline_ns: Nanoseconds::from_seconds(600),
            description: String::new(),
            unit: String::new(),
            described: WallTime(0),
        };
        let described = [HistoryRecord::Series(series), HistoryRecord::Configuration(configuration.clone())];
        for record in described.into_iter().chain(samples.collect::<Vec<_>>()) {
            lines += &(serde_json::to_string(&record).unwrap() + "\n");
        }
    }
    user.write("farm.jsonl", &lines);
    user.fine(&["import", "farm.jsonl"]);
}

#[test]
fn slots_explain_time_outs_and_days_are_told_by_configuration() {
    let user = User::new();
    farm(&user);
    let document = user.document(&[]);
    let by_day = &document["by_day"][0];
    assert_eq!((&by_day["limit_is"], &by_day["limit_seconds"]), (&"deadline".into(), &600.0.into()));
    let configurations = by_day["configurations"].as_array().unwrap();
    let few = |one: &&Value| one["name"].as_str().unwrap().contains("slots 21");
    let (few, many): (Vec<&Value>, Vec<&Value>) = configurations.iter().partition(few);
    let count = |all: &[&Value]| {
        all.iter().map(|one| one["all"]["past_deadline"]["count"].as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!((few.len(), many.len(), count(&few)), (2, 2, 0));
    assert!(count(&many) > 200, "{}", count(&many));
    for one in configurations {
        let mean = &one["days"][4]["mean"];
        let [low, high] = [0, 1].map(|end| mean["interval_seconds"][end].as_f64().unwrap());
        assert!(low > 150.0 && low < mean["seconds"].as_f64().unwrap() && high < 320.0, "{mean}");
    }
    let ranking = &document["host_rankings"][0];
    assert_eq!((&ranking["verdict"], &ranking["hosts"]), (&"ranked".into(), &HOSTS.into()));
    let first = &ranking["attributes"][0];
    assert_eq!(first["facts"], serde_json::json!(["cores", "slots"]));
    assert_eq!(
        (&first["standing"], &ranking["attributes"][1]["standing"]),
        (&"explains".into(), &"not-shown".into())
    );

    let text = user.fine(&["show", "history"]).stdout;
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for told in [
        "job-setup on /afs by configuration and day",
        "mean up to 10 min",
        "What explains that job-setup on /afs takes too long",
        "`job-setup` on /afs passes its deadline most often on 20 hosts with cores 24 and slots 28: in 1",
        "against 0 % on 20 hosts with cores 16 and slots 21",
        "These always go together, so which of them it is cannot be told.",
    ] {
        assert!(words.contains(told), "{told}: {text}");
    }
    user.fine(&["report", "history", "-o", "page.html"]);
    let page = std::fs::read_to_string(user.path("page.html")).unwrap();
    assert!(page.contains("What explains that job-setup on /afs takes too long"));
    assert!(page.contains("client_version 1.4.12, cores 24, slots 28 (1"));
    for figure in ["002-1", "002-2", "002-4", "002-5"] {
        let file = format!("{figure}.svg");
        user.fine(&["plot", "--figure", figure, "history", "-o", &file]);
        let svg = std::fs::read_to_string(user.path(&file)).unwrap();
        assert!(svg.contains("client_version 1.4.12, cores 24, slots 28"), "{figure}");
        let is_mean = matches!(figure, "002-1" | "002-4");
        assert_eq!(svg.contains("Means up to 600 s, the deadline"), is_mean, "{figure}");
    }
    user.fine(&["plot", "median-by-day", "history", "-o", "median.png"]);
}

#[test]
fn what_was_read_of_a_server_is_joined_with_the_tasks_of_every_host() {
    let user = User::new();
    let mut noise = Random::new(5);
    let mut tables = ["when,operations\n".to_owned(), "when,list\n".to_owned(), "when,list\n".to_owned()];
    for slot in 0..700 {
        let busy = noise.normal();
        let operations = 1000.0 * (0.5 * busy).exp();
        tables[0] += &format!("{},{operations:.0}\n", BEGIN_SECONDS + slot * 900 + 200);
        for table in &mut tables[1..] {
            let seconds = 0.5 * (0.5 * busy + 0.2 * noise.normal()).exp();
            *table += &format!("{},{seconds:.3}\n", BEGIN_SECONDS + slot * 900);
        }
    }
    for (table, (host, value)) in tables.iter().zip([
        ("fs1", "operations=operations[ops]"),
        ("wn1", "list=list@/home"),
        ("wn2", "list=list@/home"),
    ]) {
        let file = format!("{host}.csv");
        user.write(&file, table);
        user.fine(&["import", &file, "--time", "when", "--value", value, "--host", host]);
    }
    let document = user.document(&[]);
    let pairs = document["correlations"]["pairs"].as_array().unwrap();
    for host in ["wn1", "wn2"] {
        let is_pair = |pair: &&Value| {
            let hosts = [&pair["left"], &pair["right"]].map(|side| side["series"]["host"].clone());
            hosts.contains(&"fs1".into()) && hosts.contains(&host.into())
        };
        let pair = pairs.iter().find(is_pair).unwrap();
        assert_eq!(pair["correlation"]["strength"], "strong", "{pair}");
        let series = document["series"].as_array().unwrap();
        let list = series.iter().find(|one| one["summary"]["series"]["key"]["host"] == host).unwrap();
        assert_eq!(list["by_covariate"][0]["covariate"]["host"], "fs1");
        assert_eq!(list["by_covariate"][0]["levels"].as_array().unwrap().len(), 3);
    }
}
