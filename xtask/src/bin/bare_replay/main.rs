//! The rival of iolag's replay: exactly the system calls that a copy makes, one after the other, with neither clock nor recording.
//!
//! `bare_replay make DIRECTORY FILES` makes what the program finds in DIRECTORY, and prints the program as strace would have written it.
//! `bare_replay ask DIRECTORY FILES PASSES` makes all its calls there so many times, and prints the calls and the seconds of all passes.
//!
//! The program is made up, see [`program`]. Paths are ready before the clock starts, and relative to one descriptor.
#![expect(clippy::print_stdout, reason = "the figures are this program's output")]

mod bare;
mod program;

use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use bare::Bare;
use program::Program;

const USAGE: &str = "usage: bare_replay make DIRECTORY FILES | bare_replay ask DIRECTORY FILES PASSES";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If standard error is gone, the exit code still tells.
            let _ = writeln!(std::io::stderr(), "{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> Result<()> {
    let count = |word: &str| word.parse().with_context(|| format!("{word:?} is no count; {USAGE}"));
    match *words {
        ["make", directory, files] => {
            let program = Program::of(count(files)?);
            program.make(Path::new(directory))?;
            program.write_text(BufWriter::new(std::io::stdout().lock()))
        }
        ["ask", directory, files, passes] => {
            let program = Program::of(count(files)?);
            let passes = count(passes)?;
            let seconds = Bare::below(Path::new(directory), &program)?.ask(passes)?;
            println!("{} {seconds:.9}", program.calls.len() * passes);
            Ok(())
        }
        _ => bail!("{USAGE}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_finds_what_was_made_for_it_and_no_more() {
        let directory = tempfile::tempdir().unwrap();
        let program = Program::of(120);
        program.make(directory.path()).unwrap();
        let mut bare = Bare::below(directory.path(), &program).unwrap();
        assert!(bare.ask(2).unwrap() > 0.0);
        std::fs::write(directory.path().join("package_1/module_107.abi3.so"), "").unwrap();
        assert!(bare.ask(1).unwrap_err().to_string().contains("of 720 look-ups"));
        let mut text = Vec::new();
        program.write_text(&mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap().lines().count(), program.calls.len());
    }
}
