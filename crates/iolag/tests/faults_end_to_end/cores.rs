//! What is in the core of a measurer that dumps one: nothing of its memory, where passwords are.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use iolag_fixtures::{current_test, skip, skip_unless_root};

use crate::support::{Running, Scene, kill, wait_for};

const PASSWORD: &str = "Geheimnis-4711";

/// A root directory in which everything of the machine's is mounted, for `$@` alone: iolag stands in the root directory, where its cores
/// go, and that of the machine is not the test's.
const IN_A_ROOT: &str = r#"root=$1; shift
for entry in /*; do
    if [ -L "$entry" ]; then cp -P "$entry" "$root$entry"
    elif [ -d "$entry" ]; then mkdir "$root$entry" && mount --rbind "$entry" "$root$entry"
    fi || exit 99
done
ulimit -c 131072 && exec chroot "$root" "$@""#;

/// What becomes of the filter that iolag sets.
#[derive(Clone, Copy)]
enum Filter {
    Kept,
    /// With private memory, of what cores of other programs hold: shows that the password could be found.
    Undone,
}

fn core_of_a_measurer(filter: Filter) -> Vec<u8> {
    let scene = Scene::new();
    let root = scene.path().join("root");
    fs::create_dir(&root).unwrap();
    let target = scene.target().to_str().unwrap().to_owned();
    let arguments = Scene::bench_arguments(&target, &["-R10000", "--think", "100us"]);
    let inner = scene.command(&arguments);
    let mut outer = Command::new("unshare");
    outer.args(["-m", "sh", "-c", IN_A_ROOT, "sh"]).arg(&root).arg(inner.get_program());
    outer.args(inner.get_args()).stdin(std::process::Stdio::null());
    outer.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    outer.env("IOLAG_HISTORY", format!("postgres://u:{PASSWORD}@127.0.0.1:1/x"));
    let mut running = Running::start(outer);
    running.wait_for("measuring");
    let measurer = wait_for("the measurer", || running.measurer());
    let own = format!("/proc/{measurer}/coredump_filter");
    match filter {
        Filter::Kept => assert_eq!(fs::read_to_string(&own).unwrap().trim(), "00000000"),
        Filter::Undone => fs::write(&own, "0x1").unwrap(),
    }
    kill(measurer, libc::SIGABRT);
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    let core = fs::read_dir(&root).unwrap().flatten().map(|entry| entry.path()).find(|path| is_core(path));
    fs::read(core.expect("a core")).unwrap()
}

fn is_core(path: &Path) -> bool {
    path.is_file() && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("core"))
}

#[test]
fn the_core_of_a_measurer_holds_no_password() {
    if skip_unless_root() {
        return;
    }
    let pattern = PathBuf::from("/proc/sys/kernel/core_pattern");
    let pattern = fs::read_to_string(pattern).unwrap_or_default();
    if !pattern.starts_with("core") || pattern.contains('/') {
        skip(
            &current_test(),
            &format!("cores are not files beside their process: core_pattern is {pattern}"),
        );
        return;
    }
    let has_password = |core: &[u8]| core.windows(PASSWORD.len()).any(|window| window == PASSWORD.as_bytes());
    assert!(has_password(&core_of_a_measurer(Filter::Undone)));
    let core = core_of_a_measurer(Filter::Kept);
    assert!(core.starts_with(b"\x7fELF") && !has_password(&core));
}
