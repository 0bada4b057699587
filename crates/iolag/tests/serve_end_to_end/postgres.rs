//! Serving from a history in a real PostgreSQL.

use iolag_fixtures::PostgresServer;

use crate::metrics::{Metrics, of};
use crate::server::Server;
use crate::stage::{Stage, target};
use crate::support::{PATIENCE, assert_says, wait_for, wait_until};

#[test]
fn a_history_in_postgresql_is_read_counted_and_drawn() {
    let Some(database) = PostgresServer::start() else { return };
    let stage = Stage::new().with_history(database.url("postgres"));
    let directory = stage.directory("watched");
    let file = stage.configure(&format!("every = \"300ms\"\n{}", target("home", directory, "stat")));
    stage.watch_to(0, &["-c", &file, "--rounds", "2"]);
    let server = Server::start(&stage, &[]);
    let now = server.wait_until_read();
    assert_says(&now["history"]["place"].to_string(), &["postgres://iolag@127.0.0.1"]);
    let count = of("iolag_probe_duration_seconds_count", "stat", "home", "");
    assert_eq!(Metrics::of(&server).value(&count), 2.0);
    // What is added while it serves is counted, too.
    stage.watch_to(0, &["-c", &file, "--rounds", "1"]);
    assert!(wait_until(PATIENCE, || Metrics::of(&server).value(&count) == 3.0));
    let data = wait_for("the document", || Some(server.get("/data")).filter(|data| data.status == 200));
    assert_says(&data.text(), &["\"home\"", "\"stat\""]);
    assert!(!data.text().contains(PostgresServer::PASSWORD));
    server.stop();
}
