//! GET of a small object from a web server: against a bare loop on hyper, against oha, and beside wrk.

use anyhow::Result;

use super::asking::{Asking, EXAMPLE};
use super::component::Component;
use super::rival::Rival;
use super::told::Told;
use crate::bench::setting::Setting;
use crate::pairs::{self, Requirement, TABLE_HEAD};

const GET: &str = "get=1024";

/// Without TLS, which the rivals are judged by.
pub fn run(setting: &Setting<'_>) -> Result<()> {
    let Some(server) = Component::start(setting, "webdav")? else { return Ok(()) };
    let program = setting.build_example("iolag", EXAMPLE)?;
    println!("{TABLE_HEAD}");
    for clients in [1, 16, 256] {
        let target = object(&server.target);
        let asking = Asking { what: GET, target: &target, clients, setting };
        let name = format!("GET of 1 KiB, {clients} clients");
        asking.compare(&program, &server, &name, 1.05)?;
        // The example has made the object.
        against_rivals(&asking, &server, &name, || asking.told(&program, &server, "iolag"))?;
    }
    Ok(())
}

/// Over TLS: told, against a bare loop that protects its connection in the same way.
pub fn run_with_tls(setting: &Setting<'_>) -> Result<()> {
    let Some(server) = Component::start(setting, "webdav-tls")? else { return Ok(()) };
    let program = setting.build_example("iolag", EXAMPLE)?;
    println!("{TABLE_HEAD}");
    for clients in [1, 16] {
        let target = object(&server.target);
        let asking = Asking { what: GET, target: &target, clients, setting };
        asking.compare(&program, &server, &format!("GET of 1 KiB over TLS, {clients} clients"), 1.05)?;
    }
    Ok(())
}

/// An object in what WebDAV serves, as it is read without WebDAV.
pub(super) fn object(target: &str) -> String {
    let (address, settings) = target
        .split_once('#')
        .map_or((target, String::new()), |(address, settings)| (address, format!("#{settings}")));
    format!("{}/object{settings}", address.replacen("dav", "http", 1))
}

fn against_rivals(
    asking: &Asking<'_>,
    server: &Component,
    name: &str,
    mut ours: impl FnMut() -> Result<Told>,
) -> Result<()> {
    let told = |rival: &Rival| rival.told(server, asking.target, asking.clients, asking.seconds());
    match Rival::oha(asking.setting) {
        None => println!("oha is left out: name it with --rival PATH or in the environment as IOLAG_OHA"),
        Some(oha) => {
            let mut pairs = Vec::new();
            pairs::alternate(&mut pairs, asking.pairs(), &mut ours, || told(&oha))?;
            let required = [Some(Requirement::AtLeast(0.95)), Some(Requirement::AtMost(1.05))];
            asking.tell(name, "oha", &pairs, required)?;
        }
    }
    match Rival::wrk() {
        None => println!("wrk is left out: it is not installed"),
        Some(wrk) => {
            let Told { requests_per_second, processor_us, .. } = told(&wrk)?;
            println!(
                "wrk: {requests_per_second:.0} requests a second; a request takes {processor_us:.1} µs of the client"
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_read_without_webdav() {
        assert_eq!(object("dav://127.0.0.1:80/dav"), "http://127.0.0.1:80/dav/object");
        assert_eq!(
            object("davs://localhost:80/dav#ca-file=/x"),
            "https://localhost:80/dav/object#ca-file=/x"
        );
    }
}
