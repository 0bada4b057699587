//! `iolag list`: the stored runs.

use iolag_report::{list_text, write_list_json};
use iolag_store::{KeeperIdentity, Store, recover};

use crate::args::{Common, List};
use crate::conduct::place::StoreChoice;
use crate::exit_code::{ExitCode, Failure};
use crate::output::{self, Printed};

/// Runs the command.
///
/// # Errors
/// If the store cannot be read.
pub fn run(_options: &List, common: &Common) -> Result<ExitCode, Failure> {
    let root = StoreChoice::new(common.store.as_deref(), |name| std::env::var_os(name)).root;
    let colour = output::colour(common, |name| std::env::var_os(name));
    output::with_store(&root, common, || {
        if !root.is_dir() {
            let text = format!("no runs in {}; make one with: iolag check\n", root.display());
            return Ok(Printed { text, document: common.json.is_some().then(|| "[]\n".to_owned()) });
        }
        let store = Store::open(&root).map_err(Failure::unusable)?;
        // Runs that were killed are brought into their final form first. One that cannot be is listed as it is.
        let _ = recover(&store, KeeperIdentity::is_alive);
        let listed = store.list().map_err(Failure::unusable)?;
        let (mut records, mut damaged) = (Vec::new(), String::new());
        for listed in listed {
            match store.run(&listed.id).and_then(|run| run.record()) {
                Ok(record) => records.push(record),
                Err(error) => damaged.push_str(&format!("damaged: {error}\n")),
            }
        }
        let mut document = Vec::new();
        write_list_json(&records, &mut document).map_err(Failure::bug)?;
        let text = match records.len() {
            0 => format!("no runs in {}; make one with: iolag check\n", root.display()),
            _ => list_text(&records, colour),
        };
        let document = common.json.is_some().then(|| String::from_utf8_lossy(&document).into_owned());
        Ok(Printed { text: text + &damaged, document })
    })
}
