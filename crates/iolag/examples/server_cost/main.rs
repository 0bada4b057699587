//! What requests to a server take of those who ask: the same requests by iolag, with its sessions, driver, shared memory, keeper and
//! writer, and by a bare loop on the same libraries.
//!
//! `server_cost SIDE WHAT TARGET CLIENTS SECONDS`: SIDE is `iolag` or `bare`. WHAT is `objects` (each client stats, reads, deletes and creates
//! small objects of its own in turn, as `iolag bench metadata` does), `get=BYTES` (each reads the object that the target names), or `idle`
//! (each has a connection, and asks once). Prints requests a second, and the time on the processor of a request in ns, of all processes but the server:
//! from half a second after all have begun, for so many seconds; and how many requests were made in all. `cargo xtask bench postgres`, `s3` and `web` compare them.
//!
//! Limits: what a whole run does before and after its requests is not in it.
#![expect(clippy::print_stdout, reason = "a measurement prints its result")]

mod bare;
mod iolag;
mod load;
mod window;

use anyhow::{Context, Result, bail};
use load::{Load, What};
use window::Measured;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [side, what, target, clients, seconds] = &words[..] else {
        bail!("expected SIDE WHAT TARGET CLIENTS SECONDS");
    };
    let what = match what.split_once('=') {
        Some(("get", bytes)) => What::Get { bytes: bytes.parse()? },
        None if what == "objects" => What::Objects,
        None if what == "idle" => What::Idle,
        _ => bail!("what is asked, objects, get=BYTES or idle?"),
    };
    let clients = clients.parse().context("how many clients?")?;
    let seconds = seconds.parse().context("how many seconds?")?;
    let load = Load { what, target: target.clone(), clients, seconds };
    raise_descriptors();
    if load.what != What::Objects {
        bare::make_object(&load)?;
    }
    let Measured { requests_per_second, processor_ns, requests } = match side.as_str() {
        "iolag" => iolag::measure(&load)?,
        "bare" => bare::measure(&load)?,
        _ => bail!("which side, iolag or bare?"),
    };
    println!("{requests_per_second} {processor_ns} {requests}");
    Ok(())
}

fn raise_descriptors() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let limit = getrlimit(Resource::Nofile);
    // What is not allowed shows when a connection cannot be made.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}
