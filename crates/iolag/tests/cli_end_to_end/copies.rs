//! Started by a launcher as one of several copies: refused once, before anything is touched.

use std::path::Path;

use iolag_fixtures::{current_test, skip};

use crate::user::{Said, User, said};

const SMALL: [&str; 9] = ["bench", "metadata", "memory:", "-D1", "-P3", "-I1", "-R1", "-q", "--alone"];

fn with(user: &User, variables: &[(&str, &str)], arguments: &[&str]) -> Said {
    let mut command = user.command(env!("CARGO_BIN_EXE_iolag"));
    command.args(arguments).envs(variables.iter().copied());
    said(command)
}

#[test]
fn every_command_that_measures_is_refused_and_only_the_first_copy_speaks() {
    let user = User::new();
    let target = user.directory("target");
    let before = user.everything();
    for arguments in [
        &["check", &target][..],
        &["ping", &target, "-n", "1"],
        &["watch", &target, "--once"],
        &["bench", "metadata", &target],
        &["bench", "metadata", &target, "--quiet"],
    ] {
        for (size, rank, step) in [
            ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK"),
            ("PMI_SIZE", "PMI_RANK", "PMI_FD"),
            ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_STEP_ID"),
            ("SLURM_NTASKS", "SLURM_PROCID", "SLURM_STEP_ID"),
        ] {
            let first = with(&user, &[(size, "3"), (rank, "0"), (step, "0")], arguments);
            assert_eq!((first.code, first.output.as_str()), (2, ""), "{arguments:?}: {first:?}");
            assert_eq!(first.errors.lines().count(), 1, "{first:?}");
            assert!(first.errors.starts_with("iolag: 3 copies of iolag were started at once"), "{first:?}");
            let other = with(&user, &[(size, "3"), (rank, "2"), (step, "0")], arguments);
            assert_eq!((other.code, other.output.as_str(), other.errors.as_str()), (2, "", ""));
        }
    }
    assert_eq!(user.everything(), before);
    assert!(!user.path("data").exists(), "a store or a history was made");
}

#[test]
fn who_is_alone_measures() {
    let user = User::new();
    let not_told = &SMALL[..8];
    for (variables, arguments) in [
        (&[("PMI_SIZE", "4"), ("PMI_RANK", "0")][..], &SMALL[..]),
        (&[("PMI_SIZE", "4"), ("PMI_RANK", "3")], &SMALL),
        // A batch script of a job of four tasks.
        (&[("SLURM_JOB_ID", "7"), ("SLURM_NTASKS", "4"), ("SLURM_PROCID", "0")], not_told),
        // `mpirun -np 1` in a step of four tasks.
        (
            &[("SLURM_STEP_ID", "0"), ("SLURM_STEP_NUM_TASKS", "4"), ("PMI_SIZE", "1"), ("PMI_RANK", "0")],
            not_told,
        ),
    ] {
        let done = with(&user, variables, arguments);
        assert_eq!(done.code, 0, "{variables:?}: {done:?}");
    }
    // Looking is not measuring.
    for arguments in [&["list"][..], &["show"], &["watch", "--print-config"]] {
        assert_eq!(with(&user, &[("PMI_SIZE", "4"), ("PMI_RANK", "1")], arguments).code, 0, "{arguments:?}");
    }
}

/// The launchers of this machine: both kinds of MPI, or whatever is called mpirun.
fn launchers() -> Vec<&'static str> {
    let is_there = |name: &&str| {
        ["/usr/local/bin", "/usr/bin", "/bin"]
            .iter()
            .any(|directory| Path::new(directory).join(name).exists())
    };
    let named: Vec<_> =
        ["mpirun.mpich", "mpirun.openmpi"].into_iter().filter(|name| is_there(name)).collect();
    if named.is_empty() { ["mpirun"].into_iter().filter(|name| is_there(name)).collect() } else { named }
}

fn launched(user: &User, launcher: &str, copies: &str, arguments: &[&str]) -> Said {
    let mut command = user.command(launcher);
    command
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
        .env("HYDRA_LAUNCHER", "fork")
        .env("HYDRA_IFACE", "lo")
        .args(["-np", copies, env!("CARGO_BIN_EXE_iolag")])
        .args(arguments);
    said(command)
}

#[test]
fn copies_of_a_real_launcher_do_not_fight() {
    let launchers = launchers();
    if launchers.is_empty() {
        skip(&current_test(), "no mpirun");
    }
    for launcher in launchers {
        let user = User::new();
        let target = user.directory("target");
        let small = [&["bench", "metadata", target.as_str()], &SMALL[3..8]].concat();
        let refused = launched(&user, launcher, "3", &small);
        assert_eq!(refused.code, 2, "{launcher}: {refused:?}");
        let sentences: Vec<_> = refused.errors.lines().filter(|line| line.contains("iolag: ")).collect();
        assert_eq!(sentences.len(), 1, "{launcher}: {refused:?}");
        assert!(sentences[0].contains("3 copies of iolag were started at once"), "{launcher}: {refused:?}");
        assert!(!user.path("data").exists(), "{launcher} made a store");
        assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0, "{launcher}");
        let alone = launched(&user, launcher, "1", &small);
        assert_eq!(alone.code, 0, "{launcher}: {alone:?}");
        assert_eq!(user.record()["state"]["state"], "complete", "{launcher}");
    }
}
