//! The memory of thousands of clients of a web server: all processes of iolag, pages that they share counted once.

use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::asking::EXAMPLE;
use super::component::Component;
use super::web::object;
use crate::bench::many_clients::tell;
use crate::bench::processes::watch;
use crate::bench::setting::{Setting, Size};

const IDLE_MOST_MIB: f64 = 256.0;
const READING_MOST_MIB: f64 = 400.0;

/// Clients that have a connection and wait, and clients that all read a large object.
pub fn run(setting: &Setting<'_>) -> Result<()> {
    let Some(server) = Component::start(setting, "webdav")? else { return Ok(()) };
    let program = setting.build_example("iolag", EXAMPLE)?;
    let (idle, reading, bytes, seconds) = match setting.size {
        Size::Full => ("5000", "3000", 100 << 20, "10"),
        Size::Tiny => ("50", "30", 1 << 20, "1"),
    };
    let (target, get) = (object(&server.target), format!("get={bytes}"));
    let cases = [("idle", idle, IDLE_MOST_MIB), (get.as_str(), reading, READING_MOST_MIB)];
    for (what, clients, most_mib) in cases {
        let mut command = Command::new(&program);
        command.args(["iolag", what, &target, clients, seconds]);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let peak = watch(command.spawn().with_context(|| format!("starting {}", program.display()))?)?;
        let name = match what {
            "idle" => format!("{clients} clients of a web server that wait"),
            _ => format!("{clients} clients of a web server that read {} MiB each", bytes >> 20),
        };
        tell(setting.size, &name, peak, most_mib);
    }
    Ok(())
}
