//! Calls as comma-separated values (RFC 4180), a line for each.
//!
//! Paths are text: a backslash, a control character and a byte that is not UTF-8 are written as strace writes them.

use std::io::{self, Write};

use crate::text::errno::errno_name;
use crate::trace::{Call, Edge, PathId, Sink, Tables, path_text};

/// The columns.
pub const CSV_HEADER: &str = "call,task,process,start_ns,duration_ns,name,descriptor,path,second_path,flags,argument,\
result,errno,error,offset,length";

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
        write!(output, "{CSV_HEADER}\r\n")?;
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
        let task = tables.tasks.get(call.task.0 as usize);
        let process = task.and_then(|task| tables.tasks.get(task.process.0 as usize));
        let number = |task: Option<&crate::trace::Task>| task.map_or(0, |task| task.number);
        write!(line, "{calls},{},{},{},", number(task), number(process), call.start.0)?;
        put(call.duration.map(|duration| duration.0), line)?;
        line.extend_from_slice(tables.names.name(call.name));
        line.push(b',');
        put(call.descriptor, line)?;
        put_path(call.path, tables, line);
        put_path(call.second, tables, line);
        write!(line, "{},{},", call.flags, call.argument)?;
        put(call.result, line)?;
        write!(line, "{},{},", call.errno, errno_name(call.errno).unwrap_or_default())?;
        put(call.offset.map(|offset| offset as i64), line)?;
        write!(line, "{}\r\n", call.length as i64)?;
        *calls += 1;
        output.write_all(line)
    }

    fn edge(&mut self, _: &Edge, _: &Tables) -> io::Result<()> {
        Ok(())
    }
}

fn put(value: Option<impl std::fmt::Display>, line: &mut Vec<u8>) -> io::Result<()> {
    match value {
        Some(value) => write!(line, "{value},"),
        None => write!(line, ","),
    }
}

fn put_path(path: Option<PathId>, tables: &Tables, line: &mut Vec<u8>) {
    if let Some(path) = path {
        line.push(b'"');
        let text = path_text(tables.paths.path(path));
        line.extend_from_slice(text.replace('"', "\"\"").as_bytes());
        line.push(b'"');
    }
    line.push(b',');
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
        assert_eq!(lines[0], CSV_HEADER);
        let first = r#"0,7,7,5,9,openat,-100,"/ü/""a\\b""\n\001/","/\377,x",1,0,-1,2,ENOENT,,0"#;
        assert_eq!(lines[1..], [first, "1,7,7,6,,openat,,,,0,0,,0,,,0", ""]);
    }
}
