//! Which requests are answered, late, with an error, or never: the rules and their text form on the control socket.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

macro_rules! calls {
    ($($variant:ident = $name:literal,)*) => {
        /// A kind of request that the kernel sends to a FUSE file system; named as in the kernel's protocol.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "the names are those of the FUSE protocol")]
        pub enum FuseCall { $($variant,)* }

        impl FuseCall {
            /// Every kind of request.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name in the control protocol.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Whether it changes what is stored.
            pub const fn changes(self) -> bool {
                matches!(
                    self,
                    Self::Setattr
                        | Self::Symlink
                        | Self::Link
                        | Self::Mknod
                        | Self::Mkdir
                        | Self::Rmdir
                        | Self::Unlink
                        | Self::Rename
                        | Self::Create
                        | Self::Write
                        | Self::Fallocate
                )
            }
        }
    };
}

calls! {
    Lookup = "lookup",
    Getattr = "getattr",
    Setattr = "setattr",
    Access = "access",
    Readlink = "readlink",
    Symlink = "symlink",
    Link = "link",
    Mknod = "mknod",
    Mkdir = "mkdir",
    Rmdir = "rmdir",
    Unlink = "unlink",
    Rename = "rename",
    Create = "create",
    Open = "open",
    Read = "read",
    Write = "write",
    Flush = "flush",
    Fsync = "fsync",
    Release = "release",
    Fallocate = "fallocate",
    Lseek = "lseek",
    Opendir = "opendir",
    Readdir = "readdir",
    Fsyncdir = "fsyncdir",
    Releasedir = "releasedir",
    Statfs = "statfs",
    Xattr = "xattr",
    Other = "other",
}

/// What happens to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is executed and answered at once.
    Answer,
    /// It is executed and answered after this time.
    Delay(Duration),
    /// It is executed and answered when all are done that came before it under such a verdict, and this time besides.
    Serial(Duration),
    /// It is not executed; the answer is this errno.
    Fail(i32),
    /// It is taken, and neither executed nor answered until all are released.
    Hang,
    /// It is executed at once, and not answered until all are released.
    Withhold,
}

/// A verdict for the requests of one kind (or all) that concern a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rule {
    /// Which kind of request; all, if none.
    pub call: Option<FuseCall>,
    /// Last component of the path, `*` standing for any text. The root of the mount has the empty name.
    pub pattern: String,
    /// What happens.
    pub verdict: Verdict,
}

impl Rule {
    /// Whether this rule is about such a request.
    pub fn concerns(&self, call: FuseCall, name: &str) -> bool {
        self.call.is_none_or(|mine| mine == call) && matches(&self.pattern, name)
    }
}

/// A line on the control socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    /// From now on; a later rule goes before an earlier one.
    Add(Rule),
    /// Forget all rules and answer everything that is held.
    Release,
    /// Tell how many requests are held.
    Held,
    /// Count requests that change something from now on; the one with this number, from 1, gets this verdict.
    Trap { change: u32, verdict: Verdict },
    /// Tell how many requests have changed something since then.
    Changes,
    /// Tell how many requests of one kind (or all) about such a name came since the mount.
    Requests { call: Option<FuseCall>, pattern: String },
}

/// A line that is no command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CommandError(String);

impl fmt::Display for CommandError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{:?} is no command: expected `hang|withhold CALL|* PATTERN`, `trap CHANGE withhold|ERRNO`, `changes`, `requests CALL|* PATTERN`, \
             `delay|serial CALL|* PATTERN MILLISECONDS`, `fail CALL|* PATTERN ERRNO`, `release` or `held`",
            self.0
        )
    }
}

impl fmt::Display for Command {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = match self {
            Self::Release => return formatter.write_str("release"),
            Self::Held => return formatter.write_str("held"),
            Self::Changes => return formatter.write_str("changes"),
            Self::Trap { change, verdict: Verdict::Fail(errno) } => {
                return write!(formatter, "trap {change} {errno}");
            }
            Self::Trap { change, .. } => return write!(formatter, "trap {change} withhold"),
            Self::Requests { call, pattern } => {
                return write!(formatter, "requests {} {pattern}", call.map_or("*", FuseCall::name));
            }
            Self::Add(rule) => rule,
        };
        let (call, pattern) = (rule.call.map_or("*", FuseCall::name), &rule.pattern);
        match rule.verdict {
            Verdict::Answer => write!(formatter, "answer {call} {pattern}"),
            Verdict::Hang => write!(formatter, "hang {call} {pattern}"),
            Verdict::Withhold => write!(formatter, "withhold {call} {pattern}"),
            Verdict::Delay(time) => write!(formatter, "delay {call} {pattern} {}", time.as_millis()),
            Verdict::Serial(time) => write!(formatter, "serial {call} {pattern} {}", time.as_millis()),
            Verdict::Fail(errno) => write!(formatter, "fail {call} {pattern} {errno}"),
        }
    }
}

impl FromStr for Command {
    type Err = CommandError;

    fn from_str(line: &str) -> Result<Self, CommandError> {
        let error = || CommandError(line.to_owned());
        let words: Vec<&str> = line.split_whitespace().collect();
        let (verb, call, pattern, number) = match words[..] {
            ["release"] => return Ok(Self::Release),
            ["held"] => return Ok(Self::Held),
            ["changes"] => return Ok(Self::Changes),
            ["trap", change, verdict] => {
                let verdict = match verdict {
                    "withhold" => Verdict::Withhold,
                    errno => Verdict::Fail(errno.parse().map_err(|_| error())?),
                };
                return Ok(Self::Trap { change: change.parse().map_err(|_| error())?, verdict });
            }
            [verb, call, pattern] => (verb, call, pattern, None),
            [verb, call, pattern, number] => {
                (verb, call, pattern, Some(number.parse::<u32>().map_err(|_| error())?))
            }
            _ => return Err(error()),
        };
        let call = match call {
            "*" => None,
            name => Some(*FuseCall::ALL.iter().find(|call| call.name() == name).ok_or_else(error)?),
        };
        let pattern = pattern.to_owned();
        let verdict = match (verb, number) {
            ("requests", None) => return Ok(Self::Requests { call, pattern }),
            ("answer", None) => Verdict::Answer,
            ("hang", None) => Verdict::Hang,
            ("withhold", None) => Verdict::Withhold,
            ("delay", Some(milliseconds)) => Verdict::Delay(Duration::from_millis(milliseconds.into())),
            ("serial", Some(milliseconds)) => Verdict::Serial(Duration::from_millis(milliseconds.into())),
            ("fail", Some(errno)) if errno > 0 => Verdict::Fail(errno as i32),
            _ => return Err(error()),
        };
        Ok(Self::Add(Rule { call, pattern, verdict }))
    }
}

/// Whether `name` has the form of `pattern`, in which each `*` stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((head, tail)) => name.strip_prefix(head).is_some_and(|rest| {
            let starts = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
            starts.into_iter().any(|at| matches(tail, &rest[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name, expected) in [
            ("*", "", true),
            ("*", "file-1", true),
            ("file-*", "file-1", true),
            ("file-*", "dir", false),
            ("*.o", "a.o", true),
            ("*.o", "a.c", false),
            ("a*b*c", "aXbYbc", true),
            ("a*b*c", "aXc", false),
            ("exact", "exact", true),
            ("exact", "exactly", false),
            ("ü*", "über", true),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn commands_lead_back() {
        for line in [
            "release",
            "held",
            "changes",
            "trap 7 withhold",
            "trap 7 5",
            "withhold mkdir x",
            "hang * *",
            "delay read big* 250",
            "serial * * 1",
            "requests lookup file-*",
            "requests * *",
            "fail lookup x 116",
            "answer open y",
        ] {
            assert_eq!(line.parse::<Command>().map(|command| command.to_string()).as_deref(), Ok(line));
        }
        for line in ["", "hang", "hang everything *", "delay * *", "fail * * 0", "fail * * EIO", "hang * * 3"]
        {
            assert!(line.parse::<Command>().is_err(), "{line}");
        }
    }

    #[test]
    fn a_rule_concerns_its_call_and_name_only() {
        let rule = Rule { call: Some(FuseCall::Read), pattern: "big*".into(), verdict: Verdict::Hang };
        assert!(rule.concerns(FuseCall::Read, "big-1"));
        assert!(!rule.concerns(FuseCall::Read, "small") && !rule.concerns(FuseCall::Write, "big-1"));
    }
}
