//! Installs what the tests need, as root on a Debian machine; elsewhere names what is lacking.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::places::{Places, run};
use crate::servers;

/// A program that tests start, and the Debian package that holds it.
const PROGRAMS: &[(&str, &str)] = &[
    ("fusermount3", "fuse3"),
    ("sshfs", "sshfs"),
    ("sftp-server", "openssh-sftp-server"),
    ("glusterfs", "glusterfs-client"),
    ("mkfs.ext4", "e2fsprogs"),
    ("mkfs.xfs", "xfsprogs"),
    ("mkfs.btrfs", "btrfs-progs"),
    ("mount", "mount"),
    ("cc", "gcc"),
    ("strace", "strace"),
    ("fio", "fio"),
    ("chromium", "chromium"),
    ("python3", "python3"),
    ("pg_ctlcluster", "postgresql"),
    ("promtool", "prometheus"),
    ("openssl", "openssl"),
    ("mpirun", "mpich"),
    ("nginx", "nginx"),
    ("pgbouncer", "pgbouncer"),
];

/// A file that tests need, and the Debian package that holds it.
const FILES: &[(&str, &str)] = &[
    ("/usr/include/stdlib.h", "libc6-dev"),
    ("/usr/lib/nginx/modules/ngx_http_dav_ext_module.so", "libnginx-mod-http-dav-ext"),
];

/// What the readers of Parquet files and the known answers need.
const PYTHON_PACKAGES: &[&str] = &["pandas", "pyarrow", "polars", "duckdb", "numpy", "scipy"];

/// Installs or names what is lacking. A lack is no failure: the tests that need it say that they are skipped.
pub fn install(places: &Places) -> Result<()> {
    for tool in ["clippy", "fmt"] {
        run(places.cargo().args([tool, "--version"]))
            .with_context(|| format!("cargo {tool} is lacking: `rustup component add clippy rustfmt`"))?;
    }
    install_packages()?;
    if let Err(error) = install_python(places) {
        println!("the Python environment is lacking, the readers will be skipped: {error:#}");
    }
    if let Err(error) = servers::build(places) {
        println!("servers are lacking, their tests will be skipped: {error:#}");
    }
    Ok(())
}

fn install_packages() -> Result<()> {
    let mut packages: Vec<&str> =
        PROGRAMS.iter().filter(|(program, _)| !is_there(program)).map(|(_, package)| *package).collect();
    packages.extend(FILES.iter().filter(|(file, _)| !Path::new(file).exists()).map(|(_, package)| *package));
    if !succeeds(Command::new("/usr/bin/python3").args(["-c", "import ensurepip"])) {
        packages.push("python3-venv");
    }
    if packages.is_empty() {
        println!("all programs are there");
        return Ok(());
    }
    let list = packages.join(" ");
    if !rustix::process::geteuid().is_root() || !is_there("apt-get") {
        println!("lacking, and not installed because this is not root on Debian: {list}");
        return Ok(());
    }
    println!("installing {list}");
    let install = || {
        let mut apt = Command::new("apt-get");
        apt.args(["install", "--yes", "--quiet=2", "--no-install-recommends"]).args(&packages);
        run(apt.env("DEBIAN_FRONTEND", "noninteractive").stdout(Stdio::null()))
    };
    // Package lists may be old or absent: fetch them only if that is what it takes.
    install().or_else(|_| {
        run(Command::new("apt-get").args(["update", "--quiet=2"]))?;
        install()
    })
}

/// The environment is made once; a stamp tells for which packages.
fn install_python(places: &Places) -> Result<()> {
    let directory = places.cache.join("python");
    let stamp = directory.join("iolag-packages");
    let wanted = PYTHON_PACKAGES.join("\n");
    if fs::read_to_string(&stamp).is_ok_and(|made| made == wanted) {
        println!("the Python environment is there");
        return Ok(());
    }
    println!("making the Python environment {} with {}", directory.display(), PYTHON_PACKAGES.join(", "));
    let python = if Path::new("/usr/bin/python3").exists() { "/usr/bin/python3" } else { "python3" };
    run(Command::new(python).args(["-m", "venv", "--clear"]).arg(&directory))?;
    run(Command::new(places.python())
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"])
        .args(PYTHON_PACKAGES))?;
    fs::write(&stamp, wanted).with_context(|| format!("writing {}", stamp.display()))
}

fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/sbin".into(), "/usr/sbin".into(), "/usr/lib/openssh".into()])
        .any(|directory| directory.join(program).is_file())
}

fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}
