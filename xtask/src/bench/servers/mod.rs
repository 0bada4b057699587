//! What requests to servers take of who asks: iolag's sessions with all that a run has, against bare loops on the same libraries.
//!
//! Judged is the processor time of a request, since on a small machine the server takes most of both cores and hides the client. The servers
//! are those of the tests, on the loopback.

mod asking;
mod clients;
mod component;
mod pgbench;
mod rival;
mod told;
mod web;

pub use clients::run as run_clients;
pub use web::{run as run_web, run_with_tls as run_web_with_tls};

use anyhow::Result;

use self::asking::{Asking, EXAMPLE};
use self::component::Component;
use super::setting::Setting;
use crate::pairs::TABLE_HEAD;

/// `postgres://` against a bare loop on tokio-postgres, with pgbench beside it.
pub fn run_postgres(setting: &Setting<'_>) -> Result<()> {
    let Some(server) = Component::start(setting, "postgres")? else { return Ok(()) };
    let program = setting.build_example("iolag", EXAMPLE)?;
    println!("{TABLE_HEAD}");
    for clients in [1, 16] {
        let asking = Asking { what: "objects", target: &server.target, clients, setting };
        asking.compare(&program, &server, &format!("PostgreSQL, {clients} clients"), 1.05)?;
        pgbench::tell(&server, clients, asking.seconds())?;
    }
    Ok(())
}

/// `s3://` against a bare loop of the same signed requests on hyper.
pub fn run_s3(setting: &Setting<'_>) -> Result<()> {
    let Some(server) = Component::start(setting, "s3")? else { return Ok(()) };
    let program = setting.build_example("iolag", EXAMPLE)?;
    println!("{TABLE_HEAD}");
    for clients in [1, 16] {
        let asking = Asking { what: "objects", target: &server.target, clients, setting };
        asking.compare(&program, &server, &format!("S3, {clients} clients"), 1.10)?;
    }
    Ok(())
}
