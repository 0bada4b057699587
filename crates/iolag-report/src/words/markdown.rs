//! Markdown that people and trackers render: text from outside stays text, and only pages are linked.

use std::fmt::Write as _;

/// What somebody has to fill in.
pub(crate) const OPEN: &str = "\\_\\_\\_\\_";

/// Adds a line.
pub(crate) fn push(text: &mut String, line: std::fmt::Arguments<'_>) {
    text.write_fmt(line).expect("writing to a string cannot fail");
    text.push('\n');
}

/// Text for Markdown, on one line: whatever could be markup, HTML or a link is escaped, and control characters
/// and those that turn the direction of text are replaced.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\r' | '\t' => escaped.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '|' | '~' | '#' | '$' | '!' | '@' => {
                escaped.push('\\');
                escaped.push(character);
            }
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => escaped.push('\u{fffd}'),
            _ if character.is_control() => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    // GitHub and others make links of bare addresses.
    escaped.replace("://", ":\\//").replace("www.", "www\\.")
}

/// A link to a page; what is no page of `http` or `https` stays text.
pub(crate) fn link(words: &str, address: &str) -> String {
    let scheme = address.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    if !matches!(scheme.as_deref(), Some("http" | "https")) {
        return format!("{}: {}", escape(words), escape(address));
    }
    let mut encoded = String::with_capacity(address.len());
    for byte in address.bytes() {
        // Neither brackets nor quotes nor anything that ends a destination or a cell of a table.
        if byte.is_ascii_alphanumeric() || b"-._~:/?#@!$&'*+,;=%".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            write!(encoded, "%{byte:02X}").expect("writing to a string cannot fail");
        }
    }
    format!("[{}]({encoded})", escape(words))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_pages_are_linked() {
        assert_eq!(
            link("ticket", "https://tickets.example/7?a=b"),
            "[ticket](https://tickets.example/7?a=b)"
        );
        assert_eq!(link("ticket", "javascript:alert(1)"), "ticket: javascript:alert(1)");
        assert_eq!(link("a]b", "HTTP://x/(y) <z>|"), "[a\\]b](HTTP://x/%28y%29%20%3Cz%3E%7C)");
        assert_eq!(link("ticket", "javascript://x/%0aalert(1)"), "ticket: javascript:\\//x/%0aalert(1)");
    }

    proptest! {
        #[test]
        fn an_escaped_text_is_one_line_without_markup(text: String) {
            let escaped = escape(&text);
            prop_assert!(!escaped.contains(['\n', '\r']));
            let mut escaping = false;
            for character in escaped.chars() {
                prop_assert!(escaping || !"`*_[]<>&|~#$!@".contains(character), "{escaped:?}");
                escaping = character == '\\' && !escaping;
            }
        }
    }
}
