//! Servers of the tests that no package has: programs in Go, pinned by their go.sum, built once and kept outside of the clone.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::places::{Places, output, run};

/// A directory of `xtask/servers`, the package in it that is a program, and what the program is called.
const SERVERS: &[(&str, &str, &str)] = &[
    ("versitygw", "github.com/versity/versitygw/cmd/versitygw", "versitygw"),
    ("ferretdb", ".", "iolag-ferretdb"),
];

/// What starts servers by hand.
const PROGRAM: &str = "iolag-components";

/// Starts servers of the tests by hand, and waits for Ctrl-C.
pub fn components(names: &[&str]) -> Result<ExitCode> {
    let places = Places::find()?;
    if let Err(error) = build(&places) {
        println!("servers are lacking: {error:#}");
    }
    run(places.cargo().args(["build", "--quiet", "--package", "iolag-fixtures", "--bin", PROGRAM]))?;
    let program = places.target.join("debug").join(PROGRAM);
    let status = Command::new(program).args(names).env("IOLAG_SERVERS", places.servers()).status()?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Builds those that are not there, or are of another version.
pub fn build(places: &Places) -> Result<()> {
    let directory = places.servers();
    fs::create_dir_all(&directory).with_context(|| format!("making {}", directory.display()))?;
    for (name, package, program) in SERVERS {
        let source = places.root.join("xtask/servers").join(name);
        let wanted = wanted(&source)?;
        let (made, stamp) = (directory.join(program), directory.join(format!("{program}.stamp")));
        if made.exists() && fs::read_to_string(&stamp).is_ok_and(|known| known == wanted) {
            println!("the server {program} is there");
            continue;
        }
        output(Command::new("go").arg("version"))
            .context("there is no Go to build them: install golang, 1.25 or later")?;
        println!("building the server {program}");
        let _ = fs::remove_file(&stamp);
        run(Command::new("go")
            .args(["build", "-trimpath", "-mod=readonly", "-o"])
            .arg(&made)
            .arg(package)
            .env("CGO_ENABLED", "0")
            .current_dir(&source))?;
        fs::write(&stamp, wanted).with_context(|| format!("writing {}", stamp.display()))?;
    }
    Ok(())
}

/// Everything that decides what is built.
fn wanted(source: &Path) -> Result<String> {
    let mut all = String::new();
    for name in ["go.mod", "go.sum", "main.go", "tools.go"] {
        let file = source.join(name);
        if file.exists() {
            all.push_str(&fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?);
        }
    }
    Ok(all)
}
