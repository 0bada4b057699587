//! A server that speaks MongoDB's protocol: FerretDB on SQLite. It is not mongod: neither its speed nor its replication and write concern are.

use std::process::Command;

use crate::mounts::new_directory;
use crate::servers::running::{Running, program};
use crate::skipping::{current_test, skip};

/// A server without users. Dropping ends and removes it.
#[derive(Debug)]
pub struct MongoServer {
    running: Running,
}

impl MongoServer {
    /// Starts an empty server.
    ///
    /// Returns `None`, the current test named as skipped, where it was not built.
    pub fn start() -> Option<Self> {
        let Some(program) = program("iolag-ferretdb") else {
            skip(
                &current_test(),
                "there is no FerretDB: `cargo xtask test --only install` builds it where there is Go",
            );
            return None;
        };
        let running = Running::start(new_directory("mongo"), move |directory, port| {
            let mut command = Command::new(&program);
            command.env_clear().arg(format!("127.0.0.1:{port}")).arg(directory);
            command
        });
        Some(Self { running })
    }

    /// A target in it.
    pub fn target(&self, database: &str) -> String {
        format!("mongodb://127.0.0.1:{}/{database}", self.running.port)
    }

    /// The port on the loopback.
    pub const fn port(&self) -> u16 {
        self.running.port
    }

    /// Ends it at once, as a crash would.
    pub fn kill(&mut self) {
        self.running.kill();
    }

    /// Starts it again on its port, with what it had kept.
    pub fn restart(&mut self) {
        self.running.restart();
    }
}
