//! How fast a bare loop sums files: `sum_cost DIRECTORY` opens every file below it, asks for its attributes, reads it in the blocks of `iolag bench tree`,
//! sums what it reads and closes it, and prints bytes a second. It reads no clock in between and records nothing.

#![allow(clippy::print_stdout, reason = "what it measures is what it prints")]

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Instant;

const BLOCK_BYTES: usize = 128 << 10;

fn main() -> io::Result<()> {
    let root = std::env::args_os().nth(1).ok_or_else(|| io::Error::other("name a directory"))?;
    let mut files = Vec::new();
    find(Path::new(&root), &mut files)?;
    let mut block = vec![0_u8; BLOCK_BYTES];
    let (mut bytes, mut sums) = (0_u64, 0_u64);
    let start = Instant::now();
    for path in &files {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut hasher = crc32fast::Hasher::new();
        let mut read = 0;
        while read < length {
            let more = file.read(&mut block)?;
            if more == 0 {
                break;
            }
            hasher.update(&block[..more]);
            read += more as u64;
        }
        bytes += read;
        sums ^= u64::from(hasher.finalize());
    }
    let elapsed_s = start.elapsed().as_secs_f64();
    // The sums are used, so that they are made.
    assert!(sums <= u64::from(u32::MAX));
    println!("{}", bytes as f64 / elapsed_s);
    Ok(())
}

fn find(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => find(&entry.path(), files)?,
            false => files.push(entry.path()),
        }
    }
    Ok(())
}
