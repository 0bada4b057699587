//! A tree, described.

use iolag_model::{RunRecord, TreeSpec, counted, exact_duration, format_duration};

use crate::workload::command::option;
use crate::workload::described::Described;

impl Described for TreeSpec {
    fn heading(&self) -> &'static str {
        "Trees"
    }

    fn in_list(&self) -> String {
        format!("tree, {}", phases(self).join(", "))
    }

    fn in_a_line(&self, clients: u32) -> String {
        let mut parts = vec![self.in_list(), counted(u64::from(clients), "client", "clients")];
        if let Some(limit) = self.time_limit_ns {
            parts.push(format!("phases of {}", format_duration(limit)));
        }
        parts.push("only read".to_owned());
        parts.join(", ")
    }

    fn command(&self, run: &RunRecord) -> (&'static [&'static str], Vec<String>) {
        let mut words =
            [option("--phases", phases(self).join(",")), option("--clients", run.spec.clients)].concat();
        let limit = self.time_limit_ns.map(|limit| option("--time-limit", exact_duration(limit)));
        words.extend(limit.into_iter().flatten());
        words.extend(option("--on-hang", run.spec.on_hang));
        words.extend(option("--buffer", run.spec.ring_bytes));
        (&["bench", "tree"], words)
    }
}

fn phases(spec: &TreeSpec) -> Vec<&'static str> {
    spec.phases.iter().map(|phase| phase.name()).collect()
}
