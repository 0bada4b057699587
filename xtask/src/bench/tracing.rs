//! What iolag itself costs while a program is traced, against the processor time of strace, which does the tracing: both as the kernel counts
//! them, of the same execution.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::setting::{Setting, Size};
use crate::machine;
use crate::pairs::{quantile, sorted};

const MOST: f64 = 0.15;

/// Traces a program that asks for everything below a directory.
pub fn run(setting: &Setting<'_>) -> Result<()> {
    let size = setting.size;
    if !Command::new("strace").args(["-o", "/dev/null", "true"]).status().is_ok_and(|status| status.success())
    {
        println!("not measured: strace is not installed or may not trace");
        return Ok(());
    }
    let iolag = setting.places.build("iolag", "iolag", size.optimised())?;
    let scratch = setting.scratch("tracing")?;
    let (searched, times) = match size {
        Size::Full => ("/usr", 11),
        Size::Tiny => ("/usr/bin", 1),
    };
    let measured =
        (0..times).map(|_| traced(&iolag, scratch.path(), searched)).collect::<Result<Vec<_>>>()?;
    let shares = sorted(measured.iter().map(|one| one.iolag_s / one.strace_s));
    let (median, most) = (quantile(&shares, 0.5), quantile(&shares, 1.0));
    let calls = measured.iter().map(|one| one.calls).max().unwrap_or(0);
    let strace_us = quantile(&sorted(measured.iter().map(|one| one.strace_s / one.calls as f64 * 1e6)), 0.5);
    let verdict = match size {
        Size::Tiny => "not judged",
        Size::Full if most < MOST => "met",
        Size::Full => "missed",
    };
    println!(
        "| processor time of iolag while `find {searched}` is traced, {calls} calls, in parts of strace's ({strace_us:.0} µs a call) | median {median:.3}, \
         most {most:.3} of {times} | at most {MOST} | {verdict} | {} |",
        machine::description()
    );
    Ok(())
}

/// What one execution cost.
struct Measured {
    calls: u64,
    iolag_s: f64,
    strace_s: f64,
}

fn traced(iolag: &Path, scratch: &Path, searched: &str) -> Result<Measured> {
    let told = scratch.join("told.json");
    let mut command = Command::new(iolag);
    command.arg("trace").arg("-o").arg(scratch.join("trace.iolag")).arg("--json").arg(&told);
    command.args(["--", "find", searched, "-newer", "/", "-name", "none"]);
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let status = status.with_context(|| format!("starting {}", iolag.display()))?;
    ensure!(status.success(), "`iolag trace` failed: {status}");
    let document: serde_json::Value = serde_json::from_slice(&std::fs::read(&told)?)?;
    let processor = |whose: &str| {
        let time = document["ending"]["processor"][whose].as_u64();
        time.map(|time| time as f64 / 1e9).with_context(|| format!("no {whose} in {}", told.display()))
    };
    let calls = document["ending"]["calls"].as_u64().context("no calls")?;
    Ok(Measured { calls, iolag_s: processor("iolag_ns")?, strace_s: processor("strace_ns")? })
}
