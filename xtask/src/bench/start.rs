//! How long a user waits for the usage text, from the start of the process to its end.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::setting::{Setting, Size};
use crate::machine;
use crate::pairs::{quantile, sorted};
use crate::places::output;

const STARTS: usize = 100;
const STARTS_TINY: usize = 3;
const MOST_MS: f64 = 20.0;

/// Starts `iolag --help` repeatedly.
pub fn run(setting: &Setting<'_>) -> Result<()> {
    let size = setting.size;
    let iolag = setting.places.build("iolag", "iolag", size.shipped())?;
    let usage = output(Command::new(&iolag).arg("--help"))?;
    ensure!(usage.contains("Usage"), "`iolag --help` prints no usage text, so its time means nothing");
    let starts = if size == Size::Full { STARTS } else { STARTS_TINY };
    let times_ms = (0..starts).map(|_| start_ms(&iolag)).collect::<Result<Vec<f64>>>()?;
    let times_ms = sorted(times_ms.into_iter());
    let (median, p95) = (quantile(&times_ms, 0.5), quantile(&times_ms, 0.95));
    let verdict = match size {
        Size::Tiny => "not judged",
        Size::Full if p95 < MOST_MS => "met",
        Size::Full => "missed",
    };
    println!(
        "| start to usage text | median {median:.2} ms, p95 {p95:.2} ms | under {MOST_MS} ms | {verdict} | {starts} starts | {} |",
        machine::description()
    );
    Ok(())
}

fn start_ms(iolag: &Path) -> Result<f64> {
    let mut command = Command::new(iolag);
    command.arg("--help").stdin(Stdio::null()).stdout(Stdio::null());
    let start = Instant::now();
    let status = command.status().with_context(|| format!("starting {}", iolag.display()))?;
    let elapsed_ms = start.elapsed().as_secs_f64() * 1e3;
    ensure!(status.success(), "`iolag --help` failed: {status}");
    Ok(elapsed_ms)
}
