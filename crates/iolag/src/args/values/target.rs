//! How the user names a target, or a directory to measure in.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{Arg, Command, Error};
use iolag_backend::{Target, redact};

/// Understands targets. Not a function: what clap says of its errors repeats the text, and with it a password.
#[derive(Clone)]
pub(crate) struct TargetParser;

impl TypedValueParser for TargetParser {
    type Value = Target;

    fn parse_ref(&self, _command: &Command, _argument: Option<&Arg>, value: &OsStr) -> Result<Target, Error> {
        let text = value.to_str().ok_or_else(|| Error::new(ErrorKind::InvalidUtf8))?;
        Target::parse(text).map_err(|error| Error::raw(ErrorKind::ValueValidation, format!("{error}\n")))
    }
}

/// Understands what a check, a ping and a watch measure: directories, and servers, with nothing around them. A text that is neither
/// names a directory that may have such a name.
#[derive(Clone)]
pub(crate) struct PlaceParser;

impl TypedValueParser for PlaceParser {
    type Value = Target;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<Target, Error> {
        let text = value.to_str().ok_or_else(|| Error::new(ErrorKind::InvalidUtf8))?;
        match Target::parse(text) {
            Ok(target) if target.directory().is_none() || target.kind() != "posix" => {
                let is_plain = target.is_server() && !matches!(target.kind(), "delayed" | "faulty");
                let sentence = || {
                    let text = redact(text);
                    format!(
                        "{text:?} is neither a directory nor a server, and this command measures nothing else; \
                         `iolag bench metadata {text}` does\n"
                    )
                };
                is_plain.then_some(target).ok_or_else(|| Error::raw(ErrorKind::ValueValidation, sentence()))
            }
            Err(error) if Target::is_meant_as_server(text) => {
                Err(Error::raw(ErrorKind::ValueValidation, format!("{error}\n")))
            }
            _ => DirectoryParser.parse_ref(command, argument, value).map(Target::from),
        }
    }
}

/// A directory from `/` on, whatever the current directory is later.
pub(crate) fn from_root(target: Target) -> Target {
    let directory = target.directory().and_then(|directory| std::path::absolute(directory).ok());
    directory.map_or(target, Target::from)
}

/// Understands directories to measure in. What would be said of a URL later, as of a directory that is not there, would repeat its
/// password.
#[derive(Clone)]
pub(crate) struct DirectoryParser;

impl TypedValueParser for DirectoryParser {
    type Value = PathBuf;

    fn parse_ref(
        &self,
        _command: &Command,
        _argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<PathBuf, Error> {
        let text = value.to_str().ok_or_else(|| Error::new(ErrorKind::InvalidUtf8))?;
        if text.is_empty() {
            let sentence = "a directory has a name; write . for the current one\n";
            return Err(Error::raw(ErrorKind::ValueValidation, sentence));
        }
        if text.contains("://") {
            let text = redact(text);
            let sentence = format!("{text:?} is no directory, and this command measures nothing else\n");
            return Err(Error::raw(ErrorKind::ValueValidation, sentence));
        }
        // What has such a name and is no directory is meant as what benchmarks measure.
        if Target::parse(text).is_ok_and(|target| target.kind() != "posix") {
            let sentence = format!(
                "{text:?} is no directory, and this command measures nothing else; `iolag bench metadata {text}` does\n"
            );
            return Err(Error::raw(ErrorKind::ValueValidation, sentence));
        }
        Ok(PathBuf::from(text))
    }
}
