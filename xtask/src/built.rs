//! What cargo built of the workspace in the profile `dev`: test programs, programs and examples, all in one go.
//!
//! One go, because cargo joins the features that dependencies are built with: of what is built package by package, much is built twice.

use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::features;
use crate::places::{Places, run};

/// How a program is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// Fast to build.
    Dev,
    /// What `cargo run --release` builds: the programs that the loop's benchmarks run.
    Release,
    /// What users copy to their machines.
    Dist,
}

impl Profile {
    /// The profile's name for cargo.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::Release => "release",
            Self::Dist => "dist",
        }
    }
}

/// A file that can be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Executable {
    /// What it is.
    pub kind: ExecutableKind,
    /// Its name in the manifest; that of a library's tests is `lib`.
    pub name: String,
    /// Where cargo has put it.
    pub path: PathBuf,
    /// The directory of its package, which is named like it.
    pub package: PathBuf,
}

/// Which kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExecutableKind {
    /// Tests, with the standard harness.
    Tests,
    /// A program or an example.
    Program,
}

/// Builds what `selection`, options of `cargo test`, selects of the workspace; everything if it is empty.
pub fn build(places: &Places, selection: &[&str]) -> Result<Vec<Executable>> {
    let mut cargo = places.cargo();
    cargo
        .args(["test", "--no-run", "--quiet", "--workspace", "--message-format", "json-render-diagnostics"])
        .args(features::BUILT)
        .args(selection);
    let mut child = cargo.stdout(Stdio::piped()).spawn().context("starting `cargo test --no-run`")?;
    let stdout = child.stdout.take().context("the output of `cargo test --no-run` is a pipe")?;
    let messages = serde_json::Deserializer::from_reader(BufReader::new(stdout)).into_iter::<Value>();
    let mut executables = Vec::new();
    for message in messages {
        executables.extend(Executable::from_message(&message.context("reading the messages of cargo")?));
    }
    let status = child.wait().context("waiting for `cargo test --no-run`")?;
    ensure!(status.success(), "the workspace does not compile: see the messages above");
    Ok(executables)
}

impl Places {
    /// Builds a program of the workspace and returns its path.
    pub fn build(&self, package: &str, program: &str, profile: Profile) -> Result<PathBuf> {
        self.build_target(package, ["--bin", program], profile, program.into())
    }

    /// Builds an example of a package and returns its path.
    pub fn build_example(&self, package: &str, example: &str, profile: Profile) -> Result<PathBuf> {
        self.build_target(package, ["--example", example], profile, Path::new("examples").join(example))
    }

    fn build_target(
        &self,
        package: &str,
        target: [&str; 2],
        profile: Profile,
        path: PathBuf,
    ) -> Result<PathBuf> {
        if profile == Profile::Dev {
            // With everything that the tests need, which is built anyway.
            return program(&build(self, &[])?, target[1]);
        }
        let mut cargo = self.cargo();
        cargo
            .args(["build", "--quiet", "--package", package])
            .args(target)
            .args(["--profile", profile.name()]);
        run(&mut cargo)?;
        Ok(self.target.join(profile.name()).join(path))
    }
}

/// The program or example of this name.
pub fn program(executables: &[Executable], name: &str) -> Result<PathBuf> {
    let mut programs = executables.iter().filter(|one| one.kind == ExecutableKind::Program);
    let found = programs.find(|program| program.name == name);
    Ok(found.with_context(|| format!("cargo built no program {name}"))?.path.clone())
}

impl Executable {
    /// What cargo says of a file that can be run; nothing of anything else.
    fn from_message(message: &Value) -> Option<Self> {
        if message["reason"] != "compiler-artifact" {
            return None;
        }
        let path = message["executable"].as_str()?;
        let target = &message["target"];
        let is_library = target["kind"].as_array()?.iter().any(|kind| kind == "lib");
        Some(Self {
            kind: if message["profile"]["test"] == true {
                ExecutableKind::Tests
            } else {
                ExecutableKind::Program
            },
            name: if is_library { "lib" } else { target["name"].as_str()? }.to_owned(),
            path: path.into(),
            package: Path::new(message["manifest_path"].as_str()?).parent()?.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn artifact(kind: &str, name: &str, is_test: bool) -> Value {
        json!({
            "reason": "compiler-artifact",
            "manifest_path": "/clone/crates/iolag-watch/Cargo.toml",
            "target": {"kind": [kind], "name": name},
            "profile": {"test": is_test},
            "executable": "/target/debug/it",
        })
    }

    #[test]
    fn tests_and_programs_are_told_apart() {
        let read = |message: &Value| Executable::from_message(message).map(|one| (one.kind, one.name));
        let hangs = read(&artifact("test", "hangs", true));
        assert_eq!(hangs, Some((ExecutableKind::Tests, "hangs".to_owned())));
        let library = read(&artifact("lib", "iolag_watch", true));
        assert_eq!(library, Some((ExecutableKind::Tests, "lib".to_owned())));
        let program = artifact("bin", "iolag", false);
        assert_eq!(read(&program), Some((ExecutableKind::Program, "iolag".to_owned())));
        let executable = Executable::from_message(&program).unwrap();
        assert_eq!(super::program(&[executable], "iolag").unwrap(), Path::new("/target/debug/it"));
        assert_eq!(read(&json!({"reason": "build-finished"})), None);
    }
}
