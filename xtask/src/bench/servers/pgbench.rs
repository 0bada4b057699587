//! pgbench on the same statements: not judged, but a mark that users of PostgreSQL know.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use super::component::Component;
use super::told::busy_seconds;
use crate::places::output;

const TABLE: &str = "\"pgbench objects\"";
/// As many and as large as those of the other sides.
const OBJECTS: u32 = 100;
const OBJECT_BYTES: usize = 3901;

/// Says what it reaches, and what client and server take of a request.
pub fn tell(server: &Component, clients: u32, seconds: u64) -> Result<()> {
    let Some(programs) = programs() else {
        println!("pgbench is left out: it is not installed");
        return Ok(());
    };
    let address = server.target.split('#').next().unwrap_or_default();
    let psql = |statements: &str| {
        output(Command::new(programs.join("psql")).args(["--quiet", address, "--command", statements]))
    };
    let content = letters();
    psql(&format!(
        "DROP TABLE IF EXISTS {TABLE}; CREATE TABLE {TABLE} (rank bigint, dataset bigint, index bigint, content bytea NOT NULL, \
         PRIMARY KEY (rank, dataset, index)); INSERT INTO {TABLE} SELECT rank, 0, index, '{content}' \
         FROM generate_series(0, {clients} - 1) AS rank, generate_series(0, {OBJECTS} - 1) AS index"
    ))?;
    let script = tempfile::NamedTempFile::new().context("making a script")?;
    fs::write(script.path(), statements()).context("writing a script")?;
    let (busy, served) = (busy_seconds()?, server.processor_seconds());
    let mut pgbench = Command::new(programs.join("pgbench"));
    pgbench.env("PGOPTIONS", "-c plan_cache_mode=force_generic_plan");
    pgbench.args(["--no-vacuum", "--protocol=prepared", "--define=index=0"]);
    pgbench.arg(format!("--define=content={content}")).arg(format!("--file={}", script.path().display()));
    pgbench.args([format!("--client={clients}"), format!("--jobs={}", clients.min(2))]);
    let said = output(pgbench.arg(format!("--time={seconds}")).arg(address))?;
    let (busy, served) = (busy_seconds()? - busy, server.processor_seconds() - served);
    let done = number_behind(&said, "number of transactions actually processed: ")?;
    let rate = number_behind(&said, "tps = ")?;
    // Four requests each.
    let each_us = |seconds: f64| seconds * 1e6 / (4.0 * done);
    println!(
        "pgbench, {clients} clients, {seconds} s: {:.0} requests a second; a request takes {:.1} µs of the client, {:.1} µs of the server",
        4.0 * rate,
        each_us(busy),
        each_us(served)
    );
    psql(&format!("DROP TABLE {TABLE}")).map(drop)
}

fn statements() -> String {
    let object = "rank = :client_id AND dataset = 0 AND index = :index";
    format!(
        "SELECT octet_length(content) FROM {TABLE} WHERE {object};\nSELECT content FROM {TABLE} WHERE {object};\n\
         DELETE FROM {TABLE} WHERE {object};\n\\set ahead :index + {OBJECTS}\n\
         INSERT INTO {TABLE} (rank, dataset, index, content) VALUES (:client_id, 0, :ahead, :content) \
         ON CONFLICT (rank, dataset, index) DO UPDATE SET content = EXCLUDED.content;\n\\set index :index + 1\n"
    )
}

/// Letters in which nothing comes twice that PostgreSQL could leave out: an object is as long in the table as it is told.
fn letters() -> String {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";
    let mut state = 1_u64;
    let letter = || {
        // Knuth, "The Art of Computer Programming" 2, 3.3.4, table 1, line 26; the high bits are the good ones.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(ALPHABET[(state >> 58) as usize])
    };
    std::iter::repeat_with(letter).take(OBJECT_BYTES).collect()
}

/// Where Debian has the programs of the newest version.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?.flatten().map(|entry| entry.path());
    let number = |path: &PathBuf| path.file_name()?.to_str()?.parse::<u32>().ok();
    let newest = versions.filter(|path| path.join("bin/pgbench").exists()).max_by_key(number)?;
    Some(newest.join("bin"))
}

fn number_behind(text: &str, words: &str) -> Result<f64> {
    let behind = text.split_once(words).with_context(|| format!("pgbench does not say {words:?}: {text}"))?.1;
    let end = behind.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(behind.len());
    behind[..end].parse().with_context(|| format!("reading what is behind {words:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_says_is_found() {
        let said = "number of transactions actually processed: 1234\nlatency average = 0.2 ms\ntps = 3968.812345 (without initial connection time)\n";
        assert_eq!(number_behind(said, "processed: ").unwrap(), 1234.0);
        assert_eq!(number_behind(said, "tps = ").unwrap(), 3968.812345);
        assert!(number_behind(said, "nothing ").is_err());
    }
}
