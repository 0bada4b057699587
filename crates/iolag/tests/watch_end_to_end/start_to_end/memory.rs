//! Where in memory a watch keeps its things, if nobody names the place: past strangers, read-only and missing directories and in user
//! namespaces. Whoever looks for it finds it, and a second watch of the same history never begins.
//!
//! Everything runs in a mount namespace with memory of its own, as a user who has no other processes.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use iolag_fixtures::{FuseMount, current_test, skip, skip_unless_root};

use crate::remembered::Remembered;
use crate::support::{Finished, PATIENCE, Running, Scene, assert_says, wait_until};

/// Nobody's number.
const USER: u32 = 31_001;
const STRANGER: u32 = 31_002;

/// A mount namespace in which /dev/shm and /run are new.
struct Room {
    scene: Scene,
    holder: Running,
    program: PathBuf,
}

impl Room {
    fn new() -> Option<Self> {
        if skip_unless_root() {
            return None;
        }
        let scene = Scene::new();
        let program = scene.path().join("iolag");
        fs::copy(env!("CARGO_BIN_EXE_iolag"), &program).unwrap();
        for path in [scene.path().to_owned(), scene.target(), scene.home()] {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            chown(path, Some(USER), None).unwrap();
        }
        let script = "mount --make-rprivate / && mount -t tmpfs -o size=16m,mode=1777 none /dev/shm && \
                      mount -t tmpfs -o size=16m,mode=755 none /run && echo ready && exec sleep 600";
        let holder =
            Running::start(scene.bare_command(Path::new("unshare"), &["--mount", "sh", "-c", script]));
        let mut room = Self { scene, holder, program };
        wait_until(PATIENCE, || room.holder.stdout().contains("ready") || room.holder.has_ended());
        if room.holder.stdout().contains("ready") {
            return Some(room);
        }
        skip(&current_test(), &format!("there is no mount namespace: {}", room.holder.stderr()));
        None
    }

    fn history(&self) -> String {
        self.scene.path().join("history.sqlite").display().to_string()
    }

    fn inside(&self, words: &[&str]) -> Command {
        let process = self.holder.id().to_string();
        let all = [&["--mount", "--target", &process, "--"], words].concat();
        let mut command = self.scene.bare_command(Path::new("nsenter"), &all);
        command.env_remove("XDG_RUNTIME_DIR");
        command
    }

    /// Root does this in the namespace.
    fn arrange(&self, script: &str) {
        let done = Running::start(self.inside(&["sh", "-ec", script])).finish();
        assert_eq!(done.code, Some(0), "{script}: {done:?}");
    }

    fn says(&self, script: &str) -> String {
        Running::start(self.inside(&["sh", "-c", script])).finish().stdout
    }

    /// `iolag …` as the user, started by the program `wrapper`.
    fn command(&self, wrapper: &[&str], arguments: &[&str]) -> Command {
        let user = USER.to_string();
        let change = ["setpriv", "--reuid", &user, "--regid", &user, "--clear-groups", "--"];
        let program = self.program.to_str().unwrap();
        self.inside(&[&change, wrapper, &[program], arguments].concat())
    }

    fn run(&self, arguments: &[&str]) -> Finished {
        Running::start(self.command(&[], arguments)).finish()
    }

    fn watch_arguments<'a>(&self, history: &'a str, target: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        [&["watch", "--history", history, "--tasks", "stat"], more, &[target]].concat()
    }

    /// Starts a watch and waits until it has measured.
    fn start_watch(&self, wrapper: &[&str]) -> Running {
        let (history, target) = (self.history(), self.scene.target().display().to_string());
        let arguments = self.watch_arguments(&history, &target, &["--every", "200ms"]);
        let mut watch = Running::start(self.command(wrapper, &arguments));
        let is_running =
            || Running::start(self.command(wrapper, &["watch", "--status", "--history", &history])).finish();
        let found = wait_until(PATIENCE, || is_running().code == Some(0) || watch.has_ended());
        assert!(found && !watch.has_ended(), "{:?}", watch.stderr());
        watch
    }

    fn watch_once(&self) -> Finished {
        let (history, target) = (self.history(), self.scene.target().display().to_string());
        self.run(&self.watch_arguments(&history, &target, &["--once"]))
    }

    /// A second watch of the same history, with and without what a login shell has in its environment, must be refused.
    fn assert_no_second_watch(&self, wrapper: &[&str]) {
        let (history, target) = (self.history(), self.scene.target().display().to_string());
        let arguments = self.watch_arguments(&history, &target, &["--once"]);
        for session in [None, Some(format!("/run/user/{USER}")), Some("/run/session".to_owned())] {
            let mut command = self.command(wrapper, &arguments);
            command.envs(session.map(|session| ("XDG_RUNTIME_DIR", session)));
            let done = Running::start(command).finish();
            assert_eq!(done.code, Some(3), "{done:?}");
            assert_says(&done.stderr, &["is in use by the watch with process id"]);
        }
        let done =
            Running::start(self.command(wrapper, &["watch", "--status", "--history", &history])).finish();
        assert_eq!(done.code, Some(0), "{done:?}");
    }

    /// `serve` must show the watch.
    fn assert_served(&self) {
        let history = self.history();
        let mut server =
            Running::start(self.command(&[], &["serve", "--listen", "127.0.0.1:0", "--history", &history]));
        server.wait_for("serving http://");
        let said = server.stderr();
        let address = said.split("http://").nth(1).and_then(|rest| rest.split('/').next()).unwrap();
        let ask = || {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
            write!(stream, "GET /metrics HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer
        };
        let is_shown = wait_until(PATIENCE, || ask().contains("iolag_watch_up 1"));
        assert!(is_shown, "{}", ask());
        server.signal(libc::SIGINT);
        server.finish();
    }

    /// How many rounds the history has, none of them twice.
    fn rounds(&self) -> usize {
        let done = self.run(&["export", "history", "--history", &self.history()]);
        assert_eq!(done.code, Some(0), "{done:?}");
        let remembered =
            Remembered(done.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect());
        remembered.assert_nothing_is_double();
        remembered.wholes(self.scene.target().to_str().unwrap(), "stat").len()
    }

    fn end(&self, watch: Running) -> Finished {
        watch.signal(libc::SIGINT);
        let done = watch.finish();
        assert_eq!(done.code, Some(0), "{done:?}");
        done
    }
}

#[test]
fn a_strangers_directory_of_our_name_does_not_stop_a_watch() {
    let Some(room) = Room::new() else { return };
    room.arrange(&format!(
        "mkdir -m 700 /dev/shm/iolag-{USER} && ln -s /etc /dev/shm/iolag-{USER}-1 && \
         chown -h {STRANGER} /dev/shm/iolag-{USER} /dev/shm/iolag-{USER}-1"
    ));
    let done = room.run(&["watch", "--status", "--history", &room.history()]);
    assert_eq!(done.code, Some(3), "{done:?}");
    assert_says(&done.stderr, &["no watch has written to"]);
    let watch = room.start_watch(&[]);
    room.assert_no_second_watch(&[]);
    room.assert_served();
    // The stranger goes, or comes: the watch stays where it is, and is found there.
    room.arrange(&format!("rmdir /dev/shm/iolag-{USER}; rm /dev/shm/iolag-{USER}-1"));
    room.assert_no_second_watch(&[]);
    let done =
        room.run(&["watch", "--remove", "--history", &room.history(), room.scene.target().to_str().unwrap()]);
    assert_eq!(done.code, Some(3), "{done:?}");
    let said = room.end(watch).stderr;
    let passed_over = format!("/dev/shm/iolag-{USER} belongs to user {STRANGER}; ");
    assert_says(&said, &[&passed_over, &format!("keeps its things in /dev/shm/iolag-{USER}-2 instead")]);
    assert_eq!(said.matches("belongs to user").count(), 2, "each is told once: {said}");
    // What was made in the target is found by the same name from any place.
    room.arrange(&format!("rm -r /dev/shm/iolag-{USER}-2"));
    let done =
        room.run(&["watch", "--remove", "--history", &room.history(), room.scene.target().to_str().unwrap()]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(fs::read_dir(room.scene.target()).unwrap().count(), 0);
}

#[test]
fn two_watches_that_looked_at_the_same_time_and_came_to_other_places_do_not_both_run() {
    if skip_unless_root() {
        return;
    }
    let backing = tempfile::tempdir().unwrap();
    fs::set_permissions(backing.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let Some(fuse) = FuseMount::start(backing.path()) else { return };
    let Some(room) = Room::new() else { return };
    let history = room.history();
    room.arrange(&format!("mkdir -m 700 /dev/shm/iolag-{USER} && chown {STRANGER} /dev/shm/iolag-{USER}"));
    fuse.hang_all();
    let hanging = fuse.path().to_str().unwrap();
    let late = Running::start(room.command(&[], &room.watch_arguments(&history, hanging, &["--once"])));
    // It has chosen its place, and waits for its target.
    assert!(fuse.wait_until_held(1, PATIENCE));
    late.signal(libc::SIGSTOP);
    room.arrange(&format!("rmdir /dev/shm/iolag-{USER}"));
    let watch = room.start_watch(&[]);
    late.signal(libc::SIGCONT);
    let done = late.finish();
    assert_eq!(done.code, Some(3), "{done:?}");
    assert_says(&done.stderr, &["is in use by the watch with process id"]);
    fuse.release();
    room.end(watch);
}

#[test]
fn where_shared_memory_is_read_only_a_watch_goes_to_the_sessions_place_and_stays_there() {
    let Some(room) = Room::new() else { return };
    room.arrange(&format!(
        "mount -o remount,ro /dev/shm && mkdir -p /run/user/{USER} && \
         mount -t tmpfs -o size=4m,mode=700,uid={USER} none /run/user/{USER}"
    ));
    let watch = room.start_watch(&[]);
    room.assert_no_second_watch(&[]);
    room.assert_served();
    room.arrange("mount -o remount,rw /dev/shm");
    room.assert_no_second_watch(&[]);
    assert_says(&room.end(watch).stderr, &["cannot write to /dev/shm: Read-only", "/run/user/"]);
    assert_eq!(room.watch_once().code, Some(0));
    assert_eq!(room.says("ls /dev/shm"), "", "it stays where it was");
}

#[test]
fn where_shared_memory_is_missing_a_watch_goes_to_another_tmpfs_that_users_share() {
    let Some(room) = Room::new() else { return };
    // A /dev that has nothing but what programs need.
    room.arrange(
        "mkdir /run/dev && for name in null zero random urandom tty; do touch /run/dev/$name; \
         mount --bind /dev/$name /run/dev/$name; done && mkdir -m 1777 /run/lock && \
         mount -t tmpfs -o size=4m,mode=1777 none /run/lock && mkdir /run/new && \
         mount -t tmpfs -o mode=755 none /run/new && for name in null zero random urandom tty; do touch /run/new/$name; \
         mount --bind /dev/$name /run/new/$name; done && mount --move /run/new /dev",
    );
    let watch = room.start_watch(&[]);
    room.assert_no_second_watch(&[]);
    room.assert_served();
    assert_says(&room.end(watch).stderr, &["cannot open the directory /dev/shm", "/run/lock/iolag-"]);
}

#[test]
fn where_nothing_lies_in_memory_a_watch_says_what_was_tried() {
    let Some(room) = Room::new() else { return };
    fs::create_dir(room.scene.path().join("disk")).unwrap();
    room.arrange(&format!("mount --bind {}/disk /dev/shm", room.scene.path().display()));
    let done = room.watch_once();
    assert_eq!(done.code, Some(3), "{done:?}");
    assert_says(
        &done.stderr,
        &["no directory in memory can hold what a watch keeps: /dev/shm is not in memory; ", "--runtime"],
    );
    assert_eq!(done.stderr.trim_end().lines().count(), 1, "{done:?}");
    // It is there as soon as somebody names one.
    room.arrange(&format!("mkdir /run/named && chown {USER} /run/named"));
    let (history, target) = (room.history(), room.scene.target().display().to_string());
    let named = ["--once", "--runtime", "/run/named/here"];
    let done = room.run(&room.watch_arguments(&history, &target, &named));
    assert_eq!(done.code, Some(0), "{done:?}");
}

#[test]
fn what_waits_in_one_place_is_brought_home_by_a_watch_in_another() {
    let Some(room) = Room::new() else { return };
    assert_eq!(room.watch_once().code, Some(0));
    let mut database = rusqlite::Connection::open(room.history()).unwrap();
    database.busy_timeout(PATIENCE).unwrap();
    let lock = database.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).unwrap();
    let done = room.watch_once();
    assert_eq!(done.code, Some(4), "{done:?}");
    drop(lock);
    room.arrange(&format!(
        "mount -o remount,ro /dev/shm; mkdir -m 700 -p /run/user/{USER}; chown {USER} /run/user/{USER}"
    ));
    assert_eq!(room.watch_once().code, Some(0), "the place with what waits cannot be written to");
    drop(database);
    assert_eq!(room.rounds(), 2);
    room.arrange("mount -o remount,rw /dev/shm");
    assert_eq!(room.watch_once().code, Some(0));
    assert_eq!(room.rounds(), 4, "the round that waited and this one");
    let waits =
        room.says(&format!("find /dev/shm/iolag-{USER} /run/user/{USER} -name spool -size +0 | wc -l"));
    assert_eq!(waits.trim(), "0");
}

#[test]
fn a_watch_runs_in_a_user_namespace_that_has_no_root() {
    let Some(room) = Room::new() else { return };
    let wrapper = ["unshare", "--user", "--map-root-user", "--"];
    let user = USER.to_string();
    let change = ["setpriv", "--reuid", &user, "--regid", &user, "--clear-groups", "--"];
    let tried = Running::start(room.inside(&[&change[..], &wrapper, &["true"]].concat())).finish();
    if tried.code != Some(0) {
        return skip(&current_test(), &format!("there is no user namespace: {}", tried.stderr));
    }
    // Root's own, who is nobody there.
    room.arrange("mkdir -m 700 /dev/shm/iolag-0");
    let watch = room.start_watch(&wrapper);
    room.assert_no_second_watch(&wrapper);
    assert_says(
        &room.end(watch).stderr,
        &["/dev/shm/iolag-0 belongs to user 65534; ", "/dev/shm/iolag-0-1 instead"],
    );
    // A memory file system that a stranger was given is none to trust.
    room.arrange(&format!("mount -t tmpfs -o size=4m,mode=1777,uid={STRANGER} none /dev/shm"));
    let (history, target) = (room.history(), room.scene.target().display().to_string());
    let arguments = room.watch_arguments(&history, &target, &["--once"]);
    let done = Running::start(room.command(&wrapper, &arguments)).finish();
    assert_eq!(done.code, Some(3), "{done:?}");
    assert_says(&done.stderr, &["others may write to /dev/shm (mode 1777, user 65534)"]);
}
