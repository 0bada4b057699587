//! The hardest test: the program, the home, the current directory, the store and the target all lie on the mount that hangs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use iolag_fixtures::{FuseCall, FuseMount};

use crate::support::{Running, Scene, assert_says, remove_rescued_run};

/// Everything on one mount; the program under a name of its own.
struct OnMount {
    fuse: FuseMount,
    binary: PathBuf,
}

impl OnMount {
    fn new(scene: &Scene) -> Option<Self> {
        let backing = scene.target();
        for name in ["home", "store", "target"] {
            fs::create_dir(backing.join(name)).unwrap();
        }
        let binary = backing.join("program");
        fs::copy(env!("CARGO_BIN_EXE_iolag"), &binary).unwrap();
        fs::set_permissions(&binary, fs::Permissions::from_mode(0o755)).unwrap();
        let fuse = FuseMount::start(&backing)?;
        let binary = fuse.path().join("program");
        Some(Self { fuse, binary })
    }

    fn start(&self, scene: &Scene, arguments: &[&str]) -> Running {
        let mount = self.fuse.path();
        let text = |name: &str| mount.join(name).to_str().unwrap().to_owned();
        let store = text("store");
        let arguments = [&["--store", &store], arguments].concat();
        let mut command = scene.bare_command(&self.binary, &arguments);
        command.current_dir(mount).env("HOME", text("home")).env("XDG_DATA_HOME", text("home"));
        Running::start(command)
    }
}

/// What was kept in memory because the store does not answer, told on standard error.
fn remove_rescued(stderr: &str) {
    for (_, rest) in
        stderr.match_indices("the run is kept in ").map(|(at, found)| (at, &stderr[at + found.len()..]))
    {
        let path = Path::new(rest.split(" instead").next().unwrap());
        assert!(path.to_string_lossy().contains("iolag-"), "{path:?}");
        remove_rescued_run(path).unwrap();
    }
}

#[test]
fn everything_hangs_while_it_is_measured() {
    for arguments in [
        &["check", "target", "--deadline", "2s", "--budget", "10s"][..],
        &["bench", "metadata", "target", "-P20000", "-I500", "--deadline", "2s"][..],
    ] {
        let scene = Scene::new();
        let Some(mount) = OnMount::new(&scene) else { return };
        let mut running = mount.start(&scene, arguments);
        running.wait_for("measuring");
        mount.fuse.hang_all();
        let done = running.finish();
        assert_eq!(done.code, Some(4), "{done:?}");
        assert_says(&done.stderr, &["has not", "answered for"]);
        remove_rescued(&done.stderr);
        mount.fuse.release();
        scene.assert_nobody_is_left();
    }
}

#[test]
fn everything_hangs_from_the_start_except_the_program_itself() {
    let scene = Scene::new();
    let Some(mount) = OnMount::new(&scene) else { return };
    // The kernel may look at the root of the mount and load the program from it.
    for call in FuseCall::ALL {
        ["home", "store", "target"].iter().for_each(|name| mount.fuse.hang(*call, name));
    }
    let running = mount.start(&scene, &["check", "target", "--deadline", "1s", "--budget", "4s"]);
    let done = running.finish();
    assert!(matches!(done.code, Some(3 | 4)), "{done:?}");
    assert_says(&done.stderr, &["answer"]);
    mount.fuse.release();
    scene.assert_nobody_is_left();
}
