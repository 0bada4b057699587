//! Calls as comma-separated values (RFC 4180), a line for each.
//!
//! Paths are text: a backslash, a control character and a byte that is not UTF-8 are written as strace writes them.

use std::io::{self, Write};

use super::columns::{COLUMNS, Cell, row};
use crate::trace::{Call, Edge, Sink, Tables};

/// Writes calls as they come.
#[derive(Debug)]
pub struct CsvWriter<W> {
    output: W,
    calls: u64,
    line: Vec<u8>,
}

impl<W: Write> CsvWriter<W> {
    /// Begins with the names of the columns.
    ///
    /// # Errors
    /// Those of the output.
    pub fn new(mut output: W) -> io::Result<Self> {
        let names: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
        write!(output, "{}\r\n", names.join(","))?;
        Ok(Self { output, calls: 0, line: Vec::new() })
    }

    /// What was written to.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(mut self) -> io::Result<W> {
        self.output.flush()?;
        Ok(self.output)
    }
}

impl<W: Write> Sink for CsvWriter<W> {
    fn call(&mut self, call: &Call, tables: &Tables) -> io::Result<()> {
        let Self { output, calls, line } = self;
        line.clear();
        for (place, cell) in row(*calls, call, tables).into_iter().enumerate() {
            if place > 0 {
                line.push(b',');
            }
            match cell {
                Cell::Number(number) => number.iter().try_for_each(|number| write!(line, "{number}"))?,
                Cell::Text(text) => put_text(&text.unwrap_or_default(), line),
            }
        }
        line.extend_from_slice(b"\r\n");
        *calls += 1;
        output.write_all(line)
    }

    fn edge(&mut self, _: &Edge, _: &Tables) -> io::Result<()> {
        Ok(())
    }
}

/// Within quotes, if a comma or a quote is in it; it has no ends of lines.
fn put_text(text: &str, line: &mut Vec<u8>) {
    if text.contains(['"', ',']) {
        line.extend_from_slice(format!("\"{}\"", text.replace('"', "\"\"")).as_bytes());
    } else {
        line.extend_from_slice(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{CallName, Sharing, Task, TaskId};
    use iolag_model::Nanoseconds;

    #[test]
    fn a_line_for_each_call() {
        let mut tables = Tables::default();
        tables.names.number(b"openat");
        tables.tasks.push(Task { number: 7, parent: None, process: TaskId(0), sharing: Sharing::NOTHING });
        let path = tables.paths.number("/ü/\"a\\b\"\n\u{1}/".as_bytes());
        let torn = tables.paths.number(b"/\xff,x");
        let call = Call {
            duration: Some(Nanoseconds(9)),
            descriptor: Some(-100),
            path: Some(path),
            second: Some(torn),
            flags: 1,
            result: Some(-1),
            errno: 2,
            ..Call::new(TaskId(0), CallName(0), Nanoseconds(5))
        };
        let mut writer = CsvWriter::new(Vec::new()).unwrap();
        writer.call(&call, &tables).unwrap();
        writer.call(&Call::new(TaskId(0), CallName(0), Nanoseconds(6)), &tables).unwrap();
        let text = String::from_utf8(writer.finish().unwrap()).unwrap();
        let lines: Vec<&str> = text.split("\r\n").collect();
        let header = "call,task,process,start_ns,duration_ns,name,descriptor,path,second_path,flags,argument,result,\
                      errno,error,offset,length";
        assert_eq!(lines[0], header);
        let first = r#"0,7,7,5,9,openat,-100,"/ü/""a\\b""\n\001/","/\377,x",1,0,-1,2,ENOENT,,0"#;
        assert_eq!(lines[1..], [first, "1,7,7,6,,openat,,,,0,0,,0,,,0", ""]);
    }
}
