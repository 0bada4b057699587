//! Programs that ask a web server the same: oha, which is judged against, and wrk, a mark.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::component::Component;
use super::told::{Told, busy_seconds};
use crate::bench::setting::Setting;
use crate::places::output;

const VARIABLE: &str = "IOLAG_OHA";

/// A program, by what it prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rival {
    Oha(PathBuf),
    Wrk(PathBuf),
}

impl Rival {
    /// oha: what is named by `--rival` or in the environment.
    pub fn oha(setting: &Setting<'_>) -> Option<Self> {
        let named = setting.rival.clone().or_else(|| std::env::var_os(VARIABLE).map(PathBuf::from));
        named.map(Self::Oha)
    }

    /// wrk, where it is installed.
    pub fn wrk() -> Option<Self> {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).map(|place| place.join("wrk")).find(|file| file.is_file()).map(Self::Wrk)
    }

    /// Asks for `url` over so many connections, with as many threads as there are processors and not more than connections.
    pub fn told(&self, server: &Component, url: &str, clients: u32, seconds: u64) -> Result<Told> {
        let (busy, served) = (busy_seconds()?, server.processor_seconds());
        let (requests_per_second, requests) = match self {
            Self::Oha(program) => oha(program, url, clients, seconds)?,
            Self::Wrk(program) => wrk(program, url, clients, seconds)?,
        };
        let (busy, served) = (busy_seconds()? - busy, server.processor_seconds() - served);
        Ok(Told {
            requests_per_second,
            processor_us: busy * 1e6 / requests,
            server_us: served * 1e6 / requests,
        })
    }
}

fn oha(program: &Path, url: &str, clients: u32, seconds: u64) -> Result<(f64, f64)> {
    let mut command = Command::new(program);
    command.args(["--no-tui", "--output-format", "json", "-c", &clients.to_string(), "-z"]);
    oha_in(&output(command.arg(format!("{seconds}s")).arg(url))?)
}

/// Requests a second, and how many.
fn oha_in(text: &str) -> Result<(f64, f64)> {
    let told: Value = serde_json::from_str(text).with_context(|| format!("reading what oha says: {text}"))?;
    let rate = told["summary"]["requestsPerSec"].as_f64().context("oha tells no requestsPerSec")?;
    let codes = told["statusCodeDistribution"].as_object().context("oha tells no statusCodeDistribution")?;
    let answered: f64 = codes.values().filter_map(Value::as_f64).sum();
    let good = codes.get("200").and_then(Value::as_f64).unwrap_or_default();
    ensure!(good > 0.0 && good == answered, "of {answered} answers {good} were good");
    Ok((rate, answered))
}

fn wrk(program: &Path, url: &str, clients: u32, seconds: u64) -> Result<(f64, f64)> {
    let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    let threads = processors.min(clients).to_string();
    let mut command = Command::new(program);
    command.args(["-t", &threads, "-c", &clients.to_string(), "-d", &seconds.to_string(), url]);
    wrk_in(&output(&mut command)?)
}

fn wrk_in(text: &str) -> Result<(f64, f64)> {
    let number = |word: Option<&str>| word.and_then(|word| word.parse::<f64>().ok());
    let all = text.lines().find(|line| line.contains(" requests in "));
    let rate = text.lines().find_map(|line| line.trim().strip_prefix("Requests/sec:")).map(str::trim);
    ensure!(!text.contains("Non-2xx"), "wrk got answers that were not good: {text}");
    let requests = number(all.and_then(|line| line.split_whitespace().next()));
    number(rate).zip(requests).with_context(|| format!("reading what wrk says: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rivals_say_is_found() {
        let oha = r#"{"summary":{"requestsPerSec":100.5},"statusCodeDistribution":{"200":201}}"#;
        assert_eq!(oha_in(oha).unwrap(), (100.5, 201.0));
        assert!(
            oha_in(r#"{"summary":{"requestsPerSec":1.0},"statusCodeDistribution":{"200":1,"503":2}}"#)
                .is_err()
        );
        let wrk = "Running 1s test @ http://x\n  1 threads and 1 connections\n  22464 requests in 1.10s, 28.04MB read\nRequests/sec:  20422.01\nTransfer/sec:     25.49MB\n";
        assert_eq!(wrk_in(wrk).unwrap(), (20_422.01, 22_464.0));
        assert!(wrk_in("  Non-2xx or 3xx responses: 5\n").is_err());
    }
}
