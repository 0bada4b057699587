//! Parts of URLs; and what stands after the `#`: settings for iolag, which go to no server.

use percent_encoding::percent_decode_str;

/// `name=value,name=value`, of which these names are known.
pub(crate) fn settings_of(fragment: &str, known: &[&str]) -> Result<Vec<(String, String)>, String> {
    let one = |setting: &str| {
        let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
        match known.contains(&name) && !value.is_empty() {
            true => Ok((name.to_owned(), decoded(value))),
            false => Err(format!(
                "after # expected settings like {}=VALUE, not {setting:?}",
                known.join("=VALUE,")
            )),
        }
    };
    fragment.split(',').filter(|setting| !setting.is_empty()).map(one).collect()
}

/// With percent-encoding, of what is a path or a part of a query.
#[cfg(any(feature = "http", feature = "postgres"))]
pub(crate) fn encoded(text: &str) -> String {
    use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

    /// What is not encoded in a path: RFC 3986, 2.3, and what divides it.
    const KEPT: &AsciiSet =
        &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');
    utf8_percent_encode(text, KEPT).to_string()
}

/// Without percent-encoding.
pub(crate) fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}
