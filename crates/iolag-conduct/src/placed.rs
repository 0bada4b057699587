//! A working place, as the processes of a run speak of it.

use iolag_backend::Place;
use iolag_model::{PlaceIdentity, PlaceToken};
use serde::{Deserialize, Serialize};

/// A working place.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Placed {
    /// Which target of the run.
    pub target: u16,
    /// Absolute path or URL of the target.
    pub path: String,
    /// Name of the working place in it.
    pub name: String,
    /// Which directory it is, if it is one that was made or found.
    pub identity: Option<PlaceIdentity>,
    /// What is left in it.
    pub token: Option<PlaceToken>,
    /// The number of its file system, where that has one.
    pub file_system: Option<u64>,
}

impl Placed {
    /// A place that was made or found on this target of the run.
    pub fn of(target: u16, place: Place) -> Self {
        let Place { target: path, name, identity, token, file_system, .. } = place;
        Self { target, path, name, identity, token, file_system }
    }

    /// A place as a backend is to expect it.
    pub fn expected(&self) -> Place {
        Place {
            target: self.path.clone(),
            name: self.name.clone(),
            identity: self.identity,
            token: self.token,
            file_system: self.file_system,
            remark: None,
        }
    }

    /// The working place as it is shown.
    pub fn whole_path(&self) -> String {
        format!("{}/{}", self.path.trim_end_matches('/'), self.name)
    }
}
