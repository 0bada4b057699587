//! Parses strace's text, and counts: `parsing_cost FILE`. `cargo xtask bench traces` takes its processor time.

#![allow(clippy::print_stdout, reason = "a program")]

use std::error::Error;
use std::fs::File;
use std::io::{self, Read};

use iolag_trace::{Beginning, Call, Edge, Sink, StraceReader, Tables};

/// Calls and edges.
#[derive(Debug, Default)]
struct Counts(u64, u64);

impl Sink for Counts {
    fn call(&mut self, _call: &Call, _tables: &Tables) -> io::Result<()> {
        self.0 += 1;
        Ok(())
    }

    fn edge(&mut self, _edge: &Edge, _tables: &Tables) -> io::Result<()> {
        self.1 += 1;
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: parsing_cost FILE")?;
    let mut file = File::open(path)?;
    let mut reader = StraceReader::new(&Beginning::default(), Counts::default());
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        reader.feed(&buffer[..read])?;
    }
    let (Counts(calls, edges), tables, _) = reader.finish()?;
    println!("{calls} calls, {edges} edges, {} paths", tables.paths.len());
    Ok(())
}
