//! Directories of our own in places where others may write too: `/tmp`, a project's directory, a file server that maps root.
//!
//! A directory is made or found, opened by descriptor without following a link, and then always looked at, also if it was just made:
//! where others may rename, another may stand in its place by now. Only an [`OwnDirectory`] may be written to, and everything in it is named
//! relative to its descriptor. There is one rule for root and users: a file that is made exclusively in the open directory shows to whom
//! what we make belongs there, and the directory must belong to the same user. So root that a server maps to another user, sshfs with
//! another user's number and idmapped mounts work, and nobody's word is taken for it. Its mode must keep others out, and it must lie
//! on the mount of the directory that it was made in.
//!
//! Limits: where a server maps everybody to one user, everybody there is that user. Whoever serves a file system (with FUSE, any user)
//! decides what it says of owners: the target itself is believed, since the user named it.

mod look;
mod own;

pub use look::{mount_number, path_of, retry};
pub use own::{Modes, Origin, OwnDirectory, Refusal, Unproven, is_owner_file, type_name};

use rustix::io::Errno;

/// A number that nobody can guess, from the kernel.
///
/// # Errors
/// If the kernel gives none.
pub fn random_number() -> Result<u128, Errno> {
    let mut bytes = [0; 16];
    loop {
        match rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty()) {
            // Up to 256 bytes are given at once (getrandom(2)).
            Ok(_) => return Ok(u128::from_ne_bytes(bytes)),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
}
