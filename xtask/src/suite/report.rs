//! What a guard tells the runner: lines of text, so that they can be read by people, too.

use std::fmt;

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum End {
    /// By itself, with this exit code.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// It ran into its limit and was ended.
    Limit,
    /// The runner went away, or the guard did before it could tell anything.
    #[default]
    Abandoned,
}

/// How a test ended and what was still there then.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// How it ended.
    pub end: End,
    /// Processes, mounts and files that it left behind, which were ended and removed.
    pub left: Vec<String>,
    /// Processes that could not be ended.
    pub stuck: Vec<String>,
}

impl Report {
    /// Reads what [`fmt::Display`] wrote; what is missing is as [`End::Abandoned`].
    pub fn parse(text: &str) -> Self {
        let mut report = Self::default();
        for line in text.lines() {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match (word, rest.parse()) {
                ("code", Ok(code)) => report.end = End::Code(code),
                ("signal", Ok(signal)) => report.end = End::Signal(signal),
                ("limit", _) => report.end = End::Limit,
                ("left", _) => report.left.push(rest.to_owned()),
                ("stuck", _) => report.stuck.push(rest.to_owned()),
                _ => {}
            }
        }
        report
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.end {
            End::Code(code) => writeln!(formatter, "code {code}")?,
            End::Signal(signal) => writeln!(formatter, "signal {signal}")?,
            End::Limit => writeln!(formatter, "limit")?,
            End::Abandoned => writeln!(formatter, "abandoned")?,
        }
        let mut lines = |word: &str, texts: &[String]| {
            texts.iter().try_for_each(|text| writeln!(formatter, "{word} {}", text.replace('\n', " ")))
        };
        lines("left", &self.left)?;
        lines("stuck", &self.stuck)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_as_it_was_written() {
        for end in [End::Code(101), End::Signal(9), End::Limit, End::Abandoned] {
            let left = vec!["process 7 sleep 30 (S)".to_owned(), "mount /a (tmpfs)".to_owned()];
            let report = Report { end, left, stuck: vec!["process 8 ls (D)".to_owned()] };
            assert_eq!(Report::parse(&report.to_string()), report);
        }
        assert_eq!(Report::parse("noise\n"), Report::default());
    }
}
