//! iolag and fio at the same work: a file of one client, moved so many times from its beginning to its end, with equal engine, block and depth.
//!
//! Both make the file before they read it and remove it at the end. Who writes makes it anew each time: iolag cuts the old one off as it opens it, fio
//! removes it in between, and both have that within their time. iolag records each block, and stores it on a disk.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::processor;
use crate::bench::setting::Scratch;
use crate::places::output;

/// What is moved, and how.
#[derive(Debug, Clone, Copy)]
pub struct Work<'a> {
    /// Where the file lies.
    pub directory: &'a Path,
    /// iolag's phase.
    pub phase: &'a str,
    /// Bytes of the file.
    pub file_bytes: u64,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// `buffered` or `direct`.
    pub io: &'a str,
}

/// A program and where it may put its own files.
#[derive(Debug)]
pub struct Side {
    program: Program,
    scratch: Scratch,
}

#[derive(Debug)]
enum Program {
    Iolag(PathBuf),
    Fio(Recording),
}

/// What fio keeps of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recording {
    /// It is counted in a histogram.
    Counted,
    /// How long it took is written to a file, too, as iolag does.
    EachBlock,
}

/// What one execution said and took.
#[derive(Debug, Clone, Copy)]
pub struct Moved {
    /// Bytes a second, as the program itself says.
    pub bytes_per_s: f64,
    /// Of the whole machine, from the program's start to its end.
    pub processor_s: f64,
}

impl Side {
    /// iolag, as built.
    pub const fn iolag(program: PathBuf, scratch: Scratch) -> Self {
        Self { program: Program::Iolag(program), scratch }
    }

    /// The fio of `$PATH`.
    pub const fn fio(scratch: Scratch, recording: Recording) -> Self {
        Self { program: Program::Fio(recording), scratch }
    }

    /// Moves the file so many times.
    pub fn moves(&self, work: Work<'_>, times: usize) -> Result<Moved> {
        let before_s = processor::machine_s()?;
        let told = match &self.program {
            Program::Iolag(program) => self.told_by_iolag(program, work, times)?,
            Program::Fio(recording) => self.told_by_fio(*recording, work, times)?,
        };
        let processor_s = processor::machine_s()? - before_s;
        let bytes_per_s = match self.program {
            Program::Iolag(_) => rate_of_iolag(&told, work, times)?,
            Program::Fio(_) => rate_of_fio(&told, work, times)?,
        };
        Ok(Moved { bytes_per_s, processor_s })
    }

    fn told_by_iolag(&self, program: &Path, work: Work<'_>, times: usize) -> Result<Value> {
        let (store, json) = (self.scratch.path().join("store"), self.scratch.path().join("told.json"));
        let mut command = Command::new(program);
        command.args(["bench", "stream", "--quiet"]).arg(work.directory);
        command.args(["--working-name", &format!("iolag-bench-{}", std::process::id())]);
        command.args(["--file-size", &work.file_bytes.to_string(), "--block", &work.block_bytes.to_string()]);
        command.args(["--phases", &vec![work.phase; times].join(","), "--io", work.io]);
        command.arg("--store").arg(&store).arg("--json").arg(&json);
        output(&mut command)?;
        std::fs::remove_dir_all(&store).with_context(|| format!("removing {}", store.display()))?;
        read(&json)
    }

    fn told_by_fio(&self, recording: Recording, work: Work<'_>, times: usize) -> Result<Value> {
        let json = self.scratch.path().join("told.json");
        let (way, is_new) = match work.phase {
            "write" => ("write", "1"),
            "read" => ("read", "0"),
            _ => ("randread", "0"),
        };
        let direct = if work.io == "direct" { "1" } else { "0" };
        let file = work.directory.join(format!("iolag-bench-fio-{}", std::process::id()));
        let mut command = Command::new("fio");
        command.args(["--name=file", "--ioengine=psync", "--iodepth=1", "--unlink=1", "--end_fsync=1"]);
        command.arg(format!("--filename={}", file.display())).arg(format!("--rw={way}"));
        command.arg(format!("--size={}", work.file_bytes)).arg(format!("--bs={}", work.block_bytes));
        command.arg(format!("--direct={direct}")).arg(format!("--loops={times}"));
        command.arg(format!("--unlink_each_loop={is_new}"));
        if recording == Recording::EachBlock {
            let log = self.scratch.path().join("blocks");
            command.arg(format!("--write_lat_log={}", log.display()));
            command.args(["--disable_slat=1", "--disable_clat=1"]);
        }
        command.arg("--output-format=json").arg(format!("--output={}", json.display()));
        output(&mut command)?;
        read(&json)
    }
}

fn read(json: &Path) -> Result<Value> {
    let text = std::fs::read_to_string(json).with_context(|| format!("reading {}", json.display()))?;
    serde_json::from_str(&text).with_context(|| format!("parsing {}", json.display()))
}

/// Bytes of all its phases, by the time of these.
fn rate_of_iolag(told: &Value, work: Work<'_>, times: usize) -> Result<f64> {
    ensure!(told["run"]["state"]["state"] == "complete", "iolag's run is {}", told["run"]["state"]);
    let phases = told["phases"].as_array().context("iolag's JSON has no phases")?;
    let phases: Vec<&Value> = phases.iter().filter(|phase| phase["phase"] == work.phase).collect();
    let sum = |name: &str| phases.iter().filter_map(|phase| phase[name].as_f64()).sum::<f64>();
    let (bytes, time_ns) = (sum("bytes"), sum("time_ns"));
    let all = work.file_bytes as f64 * times as f64;
    ensure!(phases.len() == times && bytes == all, "iolag moved {bytes} bytes of {all}");
    Ok(bytes / (time_ns / 1e9))
}

fn rate_of_fio(told: &Value, work: Work<'_>, times: usize) -> Result<f64> {
    let job = &told["jobs"][0];
    ensure!(job["error"] == 0, "fio failed: error {}", job["error"]);
    let way = &job[if work.phase == "write" { "write" } else { "read" }];
    let number = |name: &str| way[name].as_f64().with_context(|| format!("fio's JSON has no {name}"));
    let (bytes, all) = (number("io_bytes")?, work.file_bytes as f64 * times as f64);
    ensure!(bytes == all, "fio moved {bytes} bytes of {all}");
    // Its bandwidth is of whole milliseconds, as is its run time.
    Ok(bytes / (number("runtime")?.max(1.0) / 1e3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn work() -> Work<'static> {
        let directory = Path::new("/");
        Work { directory, phase: "read", file_bytes: 1000, block_bytes: 100, io: "buffered" }
    }

    #[test]
    fn only_its_own_phases_count_and_nothing_may_be_missing() {
        let phase = |name: &str, time_ns: u64| json!({ "phase": name, "bytes": 1000, "time_ns": time_ns });
        let phases = [phase("precreate", 9), phase("read", 1_000_000), phase("read", 3_000_000)];
        let told = json!({ "run": { "state": { "state": "complete" } }, "phases": phases });
        assert_eq!(rate_of_iolag(&told, work(), 2).unwrap(), 500_000.0);
        assert!(rate_of_iolag(&told, work(), 3).is_err(), "a pass is missing");
        assert!(
            rate_of_iolag(
                &json!({ "run": { "state": { "state": "incomplete" } }, "phases": phases }),
                work(),
                2
            )
            .is_err()
        );
    }

    #[test]
    fn fio_has_to_have_moved_all_bytes() {
        let told =
            |error: u8| json!({ "jobs": [{ "error": error, "read": { "io_bytes": 2000, "runtime": 4 } }] });
        assert_eq!(rate_of_fio(&told(0), work(), 2).unwrap(), 500_000.0);
        assert!(rate_of_fio(&told(0), work(), 3).is_err() && rate_of_fio(&told(5), work(), 2).is_err());
    }
}
