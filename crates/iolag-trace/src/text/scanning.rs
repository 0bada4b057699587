//! The smallest pieces of a line.

/// Without the spaces in front.
pub(crate) fn skip_spaces(text: &[u8]) -> &[u8] {
    let first = text.iter().position(|byte| *byte != b' ').unwrap_or(text.len());
    &text[first..]
}

/// A decimal number at the beginning, if there is one that fits, and what follows.
pub(crate) fn leading_number(text: &[u8]) -> (Option<u32>, &[u8]) {
    let mut value = 0_u32;
    let mut used = 0;
    for byte in text {
        if !byte.is_ascii_digit() {
            break;
        }
        let Some(next) = value.checked_mul(10).and_then(|value| value.checked_add(u32::from(byte - b'0')))
        else {
            return (None, text);
        };
        value = next;
        used += 1;
    }
    ((used > 0).then_some(value), &text[used..])
}
