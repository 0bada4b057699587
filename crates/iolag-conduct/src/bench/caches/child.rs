//! The child: does one task after the other, until nobody asks any more.

use std::os::fd::OwnedFd;
use std::path::Path;

use iolag_backend::{DropMethod, PlaceCaches};
use iolag_keeper::{Inbox, Outbox};
use iolag_model::Nanoseconds;

use super::{Done, PATIENCE, Task};
use crate::bench::Ground;
use crate::bench::sides::{SideCommand, perform};
use crate::messages::tell;

/// How often is looked whether somebody asks.
const LOOK: Nanoseconds = Nanoseconds::from_seconds(1);

/// Serves; `directories` are the working directories, or the tree.
pub(super) fn serve(
    (directories, ground): (Vec<OwnedFd>, Ground),
    drop_command: Option<&str>,
    mut inbox: Inbox,
    outbox: &Outbox,
) -> i32 {
    let places: Vec<PlaceCaches> = directories.into_iter().map(PlaceCaches::new).collect();
    while !inbox.is_over() {
        match inbox.receive() {
            Some(line) => match serde_json::from_slice(&line) {
                Ok(task) => tell(outbox, &perform_task((&places, ground), drop_command, task)),
                Err(_) => return 70,
            },
            None => inbox.wait(LOOK),
        }
    }
    0
}

fn perform_task((places, ground): (&[PlaceCaches], Ground), drop_command: Option<&str>, task: Task) -> Done {
    let done = match task {
        Task::Drop => drop_all((places, ground), drop_command),
        Task::Warm => {
            let bytes: std::io::Result<u64> = places.iter().map(PlaceCaches::warm).sum();
            bytes.map(|bytes| Done { bytes, ..Done::default() })
        }
        Task::Look => look(places),
    };
    done.unwrap_or_else(|error| Done {
        errno: error.raw_os_error().unwrap_or(libc::EIO),
        doubt: Some(format!("the caches could not be made what they were to be: {error}")),
        ..Done::default()
    })
}

/// What is in memory of all places together.
fn look(places: &[PlaceCaches]) -> std::io::Result<Done> {
    let mut done = Done::default();
    for caches in places {
        let look = caches.look()?;
        // Of what is unknown nobody can say that it is not in memory.
        done.errno = if look.unknown_files > 0 { libc::EOPNOTSUPP } else { done.errno };
        done.bytes += look.resident_bytes;
        done.held_bytes += look.held_bytes;
    }
    Ok(done)
}

fn drop_all((places, ground): (&[PlaceCaches], Ground), drop_command: Option<&str>) -> std::io::Result<Done> {
    let switch = Path::new("/proc/sys/vm/drop_caches");
    let mut method = DropMethod::System;
    for caches in places {
        method = match ground {
            Ground::WorkingPlace => caches.drop_all(switch)?,
            // Going through all files by themselves would bring their names and attributes into memory.
            Ground::Tree | Ground::Named => caches.drop_system(switch).map(|()| DropMethod::System)?,
        };
    }
    let how = match method {
        DropMethod::System if ground == Ground::Tree => {
            "Caches were made cold by syncfs and drop_caches; how much of the tree is in memory is told by 256 of its files at most, evenly \
             chosen."
                .to_owned()
        }
        DropMethod::System if ground == Ground::Named => {
            "Caches were made cold by syncfs and drop_caches; how much was left in memory was not looked up.".to_owned()
        }
        DropMethod::System => "Caches were made cold by syncfs and drop_caches.".to_owned(),
        DropMethod::Files => {
            "Caches were made cold by syncfs and posix_fadvise(DONTNEED) on each file, since only the superuser may drop all: names and \
             attributes stayed cached."
                .to_owned()
        }
    };
    let Some(command) = drop_command else { return Ok(Done { said: Some(how), ..Done::default() }) };
    let words = ["/bin/sh", "-c", command].map(str::to_owned).into();
    match perform(&SideCommand { command: words, deadline: PATIENCE }, || false) {
        Ok(()) => {
            let said = Some(format!("{how} The command for servers was executed each time."));
            Ok(Done { said, ..Done::default() })
        }
        Err(failure) => {
            let doubt = format!("the command that drops the caches of servers {}", failure.sentence);
            Ok(Done { errno: libc::EIO, said: Some(how), doubt: Some(doubt), ..Done::default() })
        }
    }
}
