//! How the user names a target.

use std::ffi::OsStr;

use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{Arg, Command, Error};
use iolag_backend::Target;

/// Understands targets. Not a function: what clap says of its errors repeats the text, and with it a password.
#[derive(Clone)]
pub(super) struct TargetParser;

impl TypedValueParser for TargetParser {
    type Value = Target;

    fn parse_ref(&self, _command: &Command, _argument: Option<&Arg>, value: &OsStr) -> Result<Target, Error> {
        let text = value.to_str().ok_or_else(|| Error::new(ErrorKind::InvalidUtf8))?;
        Target::parse(text).map_err(|error| Error::raw(ErrorKind::ValueValidation, format!("{error}\n")))
    }
}
