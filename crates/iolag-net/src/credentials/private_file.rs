//! Files that only their owner may read.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const FILE_BYTES_MAX: u64 = 1 << 20;

/// The text of a file with passwords, if there is one; or why one that is there was not read, in a sentence.
pub(crate) fn read_private(path: &Path) -> Result<Option<String>, String> {
    let refused = |why: &str| format!("{} was not read: {why}", path.display());
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(refused(&error.to_string())),
    };
    let status = file.metadata().map_err(|error| refused(&error.to_string()))?;
    if !status.is_file() {
        return Err(refused("it is not a regular file"));
    }
    if status.mode() & 0o077 != 0 {
        return Err(refused("others may read it; `chmod 600` it"));
    }
    let mut text = String::new();
    file.take(FILE_BYTES_MAX).read_to_string(&mut text).map_err(|error| refused(&error.to_string()))?;
    Ok(Some(text))
}
