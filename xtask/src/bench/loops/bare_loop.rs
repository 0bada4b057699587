//! The bare loop as a rival: exactly the system calls of the benchmark phase, on a tmpfs.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::bench::setting::{Setting, Size};
use crate::places::output;

/// What the loop works on; iolag's options of the same meaning get the same numbers.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Directories.
    pub datasets: u32,
    /// Objects in each at any time.
    pub precreated: u32,
    /// Objects per directory and iteration.
    pub objects: u32,
    /// Bytes of an object.
    pub object_bytes: u32,
    /// Seconds of the benchmark phase, over all its iterations.
    pub seconds: f64,
}

impl Shape {
    /// md-workbench's defaults, repeated for at least 2 s.
    pub const fn of(size: Size) -> Self {
        match size {
            Size::Full => {
                Self { datasets: 10, precreated: 3000, objects: 1000, object_bytes: 3901, seconds: 2.0 }
            }
            Size::Tiny => {
                Self { datasets: 3, precreated: 30, objects: 20, object_bytes: 3901, seconds: 0.001 }
            }
        }
    }

    /// The same with long iterations, for clients that wait for each other between them.
    pub const fn of_company(size: Size) -> Self {
        match size {
            Size::Full => Self { precreated: 8000, objects: 8000, ..Self::of(size) },
            Size::Tiny => Self::of(size),
        }
    }

    /// Operations of one iteration of one client: stat, read, delete, create.
    pub const fn operations_per_iteration(self) -> u64 {
        self.datasets as u64 * self.objects as u64 * 4
    }
}

/// The built program and the memory-backed directory that it works in.
#[derive(Debug)]
pub struct BareLoop {
    program: PathBuf,
    directory: PathBuf,
}

impl BareLoop {
    /// Builds it as fast as it gets.
    pub fn build(setting: &Setting<'_>) -> Result<Self> {
        let directory = PathBuf::from("/dev/shm");
        ensure!(directory.is_dir(), "there is no tmpfs at {}: the loops need one", directory.display());
        let program = setting.places.build("xtask", "bare_loop", setting.size.optimised())?;
        Ok(Self { program, directory })
    }

    /// Where it works, so that its rival works there too.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Runs it once; returns operations per second of the benchmark phase.
    pub fn rate(&self, shape: Shape, options: &[&str]) -> Result<f64> {
        rate_in(&output(self.command(shape).args(options))?)
    }

    /// Runs several at the same time, each in a directory of its own; returns the sum of their rates.
    pub fn rate_together(&self, shape: Shape, loops: u64) -> Result<f64> {
        let mut running: Vec<Waiting> = (0..loops).map(|_| self.start(shape)).collect::<Result<_>>()?;
        running.iter_mut().try_for_each(Waiting::be_ready)?;
        running.iter_mut().try_for_each(Waiting::begin)?;
        running.iter_mut().map(Waiting::end).sum()
    }

    fn command(&self, shape: Shape) -> Command {
        let Shape { datasets, precreated, objects, object_bytes, seconds } = shape;
        let mut command = Command::new(&self.program);
        command.arg(&self.directory);
        command.args([datasets, precreated, objects, object_bytes].map(|n| n.to_string()));
        command.arg(seconds.to_string());
        command
    }

    fn start(&self, shape: Shape) -> Result<Waiting> {
        let mut command = self.command(shape);
        let mut child = command
            .arg("--wait")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("starting {}", self.program.display()))?;
        let output = child.stdout.take().context("its standard output was piped")?;
        Ok(Waiting { child, output: BufReader::new(output) })
    }
}

/// A loop that waits for the command to begin, or runs.
struct Waiting {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl Waiting {
    fn be_ready(&mut self) -> Result<()> {
        let line = self.line()?;
        ensure!(line.trim() == "ready", "bare_loop said {line:?} where it should be ready");
        Ok(())
    }

    fn begin(&mut self) -> Result<()> {
        let input = self.child.stdin.as_mut().context("its standard input was piped")?;
        input.write_all(b"go\n").context("telling a bare loop to begin")
    }

    fn end(&mut self) -> Result<f64> {
        let rate = rate_in(&self.line()?)?;
        let status = self.child.wait().context("waiting for a bare loop")?;
        ensure!(status.success(), "bare_loop failed: {status}");
        Ok(rate)
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.output.read_line(&mut line).context("reading what a bare loop says")?;
        Ok(line)
    }
}

/// A loop whose result is no longer wanted ends.
impl Drop for Waiting {
    fn drop(&mut self) {
        // It has ended already, unless another loop failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a bare loop printed: how much it did, and in how many seconds.
pub(super) fn rate_in(text: &str) -> Result<f64> {
    let (operations, seconds) =
        text.trim().split_once(' ').with_context(|| format!("bare_loop printed {text:?}"))?;
    Ok(operations.parse::<f64>()? / seconds.parse::<f64>()?)
}
