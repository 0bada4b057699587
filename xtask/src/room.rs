//! Room on the disk: a full one shows in the tests as many failures that are none.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use rustix::fs::statvfs;

use crate::places::Places;

/// A target directory from which nothing is missing takes about so much.
const BUILD_BYTES: u64 = 25 << 30;
/// With less than this nothing can be said of the tests.
const LEAST_BYTES: u64 = 4 << 30;
/// In a target directory of the cache: the clone that builds there.
const CLONE: &str = "iolag-clone";

/// Removes from the cache what clones have built that are gone, and says how much room there is for this one.
///
/// # Errors
/// If there is so little that tests would fail by it.
pub fn make(places: &Places) -> Result<()> {
    fs::create_dir_all(&places.target).with_context(|| format!("making {}", places.target.display()))?;
    if places.target.starts_with(&places.cache) {
        remove_orphans(&places.cache)?;
        let own = places.target.join(CLONE);
        fs::write(&own, places.root.to_string_lossy().as_bytes())
            .with_context(|| format!("writing {}", own.display()))?;
    }
    let free = free_bytes(&places.target)?;
    let told = format!(
        "{} GiB are free in {}; what is built there takes about {} GiB in all",
        free >> 30,
        places.target.display(),
        BUILD_BYTES >> 30
    );
    ensure!(free >= LEAST_BYTES, "{told}: make room, or name another place by CARGO_TARGET_DIR");
    println!("{told}");
    Ok(())
}

fn free_bytes(path: &Path) -> Result<u64> {
    let found = statvfs(path).with_context(|| format!("asking for the room in {}", path.display()))?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

/// Only what says whose it is, and whose clone is not there.
fn remove_orphans(cache: &Path) -> Result<()> {
    let entries = fs::read_dir(cache).with_context(|| format!("listing {}", cache.display()))?;
    for target in entries.flatten().map(|entry| entry.path()) {
        let Ok(clone) = fs::read_to_string(target.join(CLONE)) else { continue };
        if clone.is_empty() || Path::new(&clone).exists() {
            continue;
        }
        println!("removing {}: the clone {clone} is gone", target.display());
        fs::remove_dir_all(&target).with_context(|| format!("removing {}", target.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_clones_have_built_that_are_gone_is_removed() {
        let cache = tempfile::tempdir().unwrap();
        let made = |name: &str, clone: Option<&Path>| {
            let target = cache.path().join(name);
            fs::create_dir(&target).unwrap();
            if let Some(clone) = clone {
                fs::write(target.join(CLONE), clone.to_string_lossy().as_bytes()).unwrap();
            }
            target
        };
        let orphan = made("target-gone", Some(Path::new("/no/such/clone")));
        let kept =
            [made("target-here", Some(cache.path())), made("python", None), made("x", Some(Path::new("")))];
        remove_orphans(cache.path()).unwrap();
        assert!(!orphan.exists() && kept.iter().all(|kept| kept.exists()));
    }

    #[test]
    fn what_is_free_is_known() {
        assert!(free_bytes(Path::new("/")).is_ok_and(|free| free > 0));
        assert!(free_bytes(Path::new("/no/such/place")).is_err());
    }
}
