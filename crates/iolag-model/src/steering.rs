//! Characters that steer a terminal.

/// Whether a terminal does more than show it: control characters, and marks, embeddings and isolates of a direction (Unicode Standard Annex 9, 2.1 to 2.6).
/// Line ends and tabs do not count.
pub fn is_steering(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        other => other.is_control(),
    }
}

/// A name from outside within a line: what would begin another line, or steer a terminal, becomes U+FFFD. A directory may be called
/// "x\nVerdict: all is well".
pub fn one_line(text: &str) -> String {
    text.chars()
        .map(|character| if character.is_control() { char::REPLACEMENT_CHARACTER } else { character })
        .collect()
}
