//! The plans that come with iolag: one per study, and everyday ones.

/// Which command takes a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taker {
    /// `iolag run`.
    Run,
    /// `iolag watch -c`.
    Watch,
}

/// A plan that comes with iolag.
#[derive(Debug, Clone, Copy)]
pub struct ReadyPlan {
    /// Its name.
    pub name: &'static str,
    /// What it answers.
    pub about: &'static str,
    /// The commented file.
    pub text: &'static str,
    /// Who takes it.
    pub taker: Taker,
}

/// All of them.
pub const READY: [ReadyPlan; 5] = [
    ReadyPlan {
        name: "md-workbench",
        about: "how metadata feels while many use it, by clients and sizes (study 004)",
        text: include_str!("../../../../plans/md-workbench.toml"),
        taker: Taker::Run,
    },
    ReadyPlan {
        name: "nfs-vs-native",
        about: "by which mount large files and trees are fast, and who waits beside (study 001)",
        text: include_str!("../../../../plans/nfs-vs-native.toml"),
        taker: Taker::Run,
    },
    ReadyPlan {
        name: "job-setup",
        about: "how long the set-up of a job takes, by copies on a node (study 002)",
        text: include_str!("../../../../plans/job-setup.toml"),
        taker: Taker::Run,
    },
    ReadyPlan {
        name: "nightly",
        about: "a short benchmark for every night, beside the machine's own memory",
        text: include_str!("../../../../plans/nightly.toml"),
        taker: Taker::Run,
    },
    ReadyPlan {
        name: "login-node",
        about: "what users of a login node wait for, for months (study 000)",
        text: include_str!("../../../../plans/login-node.toml"),
        taker: Taker::Watch,
    },
];

impl ReadyPlan {
    /// The command that takes it, from a file of its name.
    pub fn command(&self) -> String {
        match self.taker {
            Taker::Run => format!("iolag run {}.toml DIR", self.name),
            Taker::Watch => format!("iolag watch -c {}.toml", self.name),
        }
    }
}
