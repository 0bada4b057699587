//! The texts of `-ff`: a file for each task, put in order by their times.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, BufRead};

use super::reader::StraceReader;
use crate::text::line::line;
use crate::text::moment::Moment;
use crate::trace::Sink;

/// Why files cannot be put in order.
#[derive(Debug, thiserror::Error)]
pub enum PerProcessError {
    /// With `-r` a time is the difference to the line before, and that is in whichever file.
    #[error("files of -ff with -r cannot be put in order: have strace write them with -ttt, or without -ff")]
    Relative,
    /// The system refused, or the sink.
    #[error("{0}")]
    Failed(#[from] io::Error),
}

/// Reads the texts of several tasks, each with the number of its task (what its file is called ends with that). Without times one is read after
/// the other.
///
/// # Errors
/// If they cannot be read, or put in order.
pub fn read_per_process<S: Sink, R: BufRead>(
    reader: &mut StraceReader<S>,
    files: Vec<(u32, R)>,
) -> Result<(), PerProcessError> {
    let mut files: Vec<TaskText<R>> = files
        .into_iter()
        .map(|(number, input)| TaskText { number, input, line: Vec::new(), time: 0 })
        .collect();
    files.sort_by_key(|file| file.number);
    let mut next = BinaryHeap::new();
    for (place, file) in files.iter_mut().enumerate() {
        if file.advance()? {
            next.push(Reverse((file.time, place)));
        }
    }
    while let Some(Reverse((_, place))) = next.pop() {
        let file = &mut files[place];
        match file.line.strip_suffix(b"\n") {
            Some(text) => reader.line(Some(file.number), text)?,
            None => reader.last_line(Some(file.number), std::mem::take(&mut file.line))?,
        }
        if file.advance()? {
            next.push(Reverse((file.time, place)));
        }
    }
    Ok(())
}

/// A file, and its next line.
struct TaskText<R> {
    number: u32,
    input: R,
    line: Vec<u8>,
    time: u64,
}

impl<R: BufRead> TaskText<R> {
    /// Goes to the next line, if there is one; a line without a time is of the same as the one before.
    fn advance(&mut self) -> Result<bool, PerProcessError> {
        self.line.clear();
        if self.input.read_until(b'\n', &mut self.line)? == 0 {
            return Ok(false);
        }
        match line(self.line.strip_suffix(b"\n").unwrap_or(&self.line)).moment {
            Some(Moment::SinceLast(_)) => Err(PerProcessError::Relative),
            Some(Moment::Unix(time) | Moment::OfDay(time)) => {
                self.time = time;
                Ok(true)
            }
            None => Ok(true),
        }
    }
}
