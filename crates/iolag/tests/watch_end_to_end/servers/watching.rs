//! `iolag watch` of servers beside directories.

use iolag_fixtures::{PostgresServer, Proxy, ProxyFault, S3Server, WebServer};
use iolag_model::{ErrorClass, OutageEnding, Outcome};

use super::{assert_hides_arguments, assert_no_secrets, assert_tells_no_secret, through};
use crate::remembered::assert_all_fine;
use crate::stage::{Stage, hung, last};
use crate::support::assert_says;

/// Rounds of a second with a deadline of one, for a bucket and a directory beside it.
fn configuration(url: &str, directory: &str, at_deadline: &str) -> String {
    format!(
        "every = \"1s\"\njitter = \"0\"\nsoft-deadline = \"500ms\"\ndeadline = \"1s\"\ngrace = \"1s\"\nat-deadline = {at_deadline:?}\ncontrol = false\n\
         [[target]]\nurl = {url:?}\nname = \"bucket\"\ntasks = [\"stat\"]\n\
         [[target]]\ndirectory = {directory:?}\nname = \"beside\"\ntasks = [\"stat\"]\n"
    )
}

#[test]
fn a_stalled_server_is_an_outage_whose_end_is_told_and_nothing_else_waits_for_it() {
    let Some(mut server) = S3Server::start() else { return };
    let (stage, proxy) = (Stage::new(), Proxy::start(server.port()));
    let file = stage.configure(&configuration(&through(&proxy, &server), &stage.directory("beside"), "end"));
    let running = stage.start(&["-c", &file]);
    stage.wait_for_fine(&["bucket"], "stat", 1);
    proxy.set(ProxyFault::Stall);
    let status = stage.wait_for("an outage", |status| !status.outages.is_empty());
    assert_eq!((status.outages[0].mount.as_str(), status.targets.len()), ("bucket", 2));
    assert_eq!((status.targets[0].kind.as_str(), status.targets[0].mount_point.as_str()), ("s3", ""));
    assert_says(&stage.status(1), &["bucket has not answered since "]);
    stage.wait_for_fine(&["beside"], "stat", 2);
    proxy.set(ProxyFault::None);
    stage.wait_for("its end", |status| status.outages.is_empty());
    stage.wait_for_fine(&["bucket"], "stat", 1);
    server.kill();
    stage.wait_for("a failure", |status| {
        last(status, "bucket", "stat").is_some_and(|last| last.outcome == Outcome::Error)
    });
    running.signal(libc::SIGTERM);
    let done = running.finish();
    assert_says(
        &done.stdout,
        &["bucket does not answer", "bucket answers again after ", "iolag: stat on bucket: "],
    );
    let remembered = stage.remembered();
    let outages = remembered.outages();
    assert_eq!((outages.len(), outages[0].ending), (1, Some(OutageEnding::Recovered)), "{outages:?}");
    let probes = remembered.wholes("bucket", "stat");
    let timeout = probes.iter().find(|sample| sample.outcome == Outcome::Timeout).unwrap();
    assert!(timeout.duration_ns.0 >= 1_000_000_000, "{timeout:?}");
    let failed = probes.iter().rfind(|sample| sample.outcome == Outcome::Error).unwrap();
    assert_eq!(failed.failure.class(), ErrorClass::Connection);
}

#[test]
fn who_is_waited_for_hangs_with_its_age_and_its_true_end_is_recorded() {
    let Some(server) = S3Server::start() else { return };
    let (stage, proxy) = (Stage::new(), Proxy::start(server.port()));
    let file = stage.configure(&configuration(&through(&proxy, &server), &stage.directory("beside"), "wait"));
    let running = stage.start(&["-c", &file]);
    stage.wait_for_fine(&["bucket"], "stat", 1);
    proxy.set(ProxyFault::Stall);
    let silent = stage.wait_for_hung();
    stage.wait_for("skipped slots", |status| status.outages.iter().any(|outage| outage.skipped > 0));
    proxy.set(ProxyFault::None);
    stage.wait_for("its end", |status| hung(status).is_none() && status.outages.is_empty());
    stage.wait_for_fine(&["bucket"], "stat", 1);
    running.signal(libc::SIGTERM);
    running.finish();
    let remembered = stage.remembered();
    let probes = remembered.wholes("bucket", "stat");
    let ended = probes.iter().find(|sample| sample.probe == silent.probe).unwrap();
    assert_eq!(ended.outcome, Outcome::Late, "{ended:?}");
    assert!(ended.duration_ns.0 >= 1_000_000_000, "{ended:?}");
    assert!(probes.iter().any(|sample| sample.outcome == Outcome::Skipped), "{probes:?}");
    remembered.assert_nothing_is_double();
}

#[test]
fn servers_are_watched_by_their_urls_and_no_secret_is_kept() {
    let (bucket, database, web) = (S3Server::start(), PostgresServer::start(), WebServer::start());
    let mut targets: Vec<String> = Vec::new();
    targets.extend(bucket.as_ref().map(|server| server.target("x")));
    targets.extend(database.as_ref().map(|server| server.url("postgres")));
    targets.extend(web.as_ref().map(|server| server.target("dav", "dav")));
    if targets.is_empty() {
        return;
    }
    let stage = Stage::new();
    let mut arguments = vec!["--every", "1s"];
    arguments.extend(targets.iter().map(String::as_str));
    let running = stage.start(&arguments);
    let status = stage.wait_for_rounds(3);
    assert_hides_arguments(running.id());
    running.signal(libc::SIGTERM);
    let done = running.finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_says(&done.stderr, &["(stat, read, create, list)"]);
    let remembered = stage.remembered();
    for target in &status.targets {
        for task in ["stat", "read", "create", "list"] {
            assert_all_fine(&remembered.wholes(&target.name, task), 1);
        }
    }
    let kinds = remembered.configurations();
    assert!(kinds.iter().any(|configuration| configuration.facts.contains_key("server-kind")), "{kinds:?}");
    for directory in [stage.scene.path(), &stage.runtime()] {
        assert_no_secrets(directory);
    }
    let told = format!("{}{}{:?}", done.stdout, done.stderr, remembered.0);
    assert_tells_no_secret(&told);
    assert_tells_no_secret(&stage.status(3));
    arguments.push("--remove");
    let removed = stage.watch_to(0, &arguments);
    assert_eq!(removed.stdout.matches("nothing of iolag's watch is left").count(), targets.len() + 1);
    if let Some(server) = &bucket {
        assert_eq!(std::fs::read_dir(server.objects().join("x")).map_or(0, Iterator::count), 0);
    }
    if let Some(server) = &database {
        let tables = server.ask("postgres", "SELECT tablename FROM pg_tables WHERE tablename LIKE 'iolag%'");
        assert_eq!(tables, "");
    }
}

#[test]
fn a_server_that_cannot_be_watched_is_refused_if_it_was_typed() {
    let stage = Stage::new();
    stage.refused(
        &["--once", "dav://me:Geheim@127.0.0.1:1/x"],
        3,
        &["dav://me:***@", "cannot connect to 127.0.0.1:1"],
    );
    stage.refused(
        &["--once", "--tasks", "compile", "s3://bucket"],
        2,
        &["expected some of stat, read, create, list"],
    );
    let file = stage.configure("[[target]]\nurl = \"s3://b\"\ntasks = [\"compile\"]\n");
    stage.refused(&["--once", "-c", &file], 2, &["iolag.toml:3: the target s3://b knows no such task"]);
    let file = stage.configure("[[target]]\nurl = \"ftp://me:Geheim@b\"\n");
    stage.refused(&["--once", "-c", &file], 2, &["iolag.toml:2: ", "ftp://me:***@b"]);
    let file = stage.configure("[[target]]\nname = \"x\"\n");
    stage.refused(&["--once", "-c", &file], 2, &["neither a directory nor a url"]);
}
