//! The number in the last line of a command's output, in bounded memory.

/// Longer lines hold no number: the smallest numbers written out in full take some 330 digits.
const LINE_BYTES_MAX: usize = 1024;

/// Keeps the last line that is not blank.
#[derive(Debug, Default)]
pub(crate) struct LastLine {
    last: Line,
    current: Line,
}

#[derive(Debug, Default, Clone)]
struct Line {
    bytes: Vec<u8>,
    is_too_long: bool,
}

impl Line {
    fn is_blank(&self) -> bool {
        !self.is_too_long && self.bytes.iter().all(u8::is_ascii_whitespace)
    }

    fn push(&mut self, byte: u8) {
        // Blanks before a number may be many.
        if self.bytes.is_empty() && byte.is_ascii_whitespace() {
            return;
        }
        if self.bytes.len() < LINE_BYTES_MAX {
            self.bytes.push(byte);
        } else {
            self.is_too_long |= !byte.is_ascii_whitespace();
        }
    }

    fn number(&self) -> Option<f64> {
        let text = std::str::from_utf8(&self.bytes).ok().filter(|_| !self.is_too_long)?;
        text.trim_ascii().parse().ok().filter(|number: &f64| number.is_finite())
    }
}

impl LastLine {
    /// More output.
    pub(crate) fn add(&mut self, output: &[u8]) {
        for byte in output {
            if *byte == b'\n' {
                self.end_line();
            } else {
                self.current.push(*byte);
            }
        }
    }

    fn end_line(&mut self) {
        if self.current.is_blank() {
            self.current.bytes.clear();
        } else {
            self.last = std::mem::take(&mut self.current);
        }
    }

    /// The finite number that the last line consists of, in decimal or exponential form; `None` if it is anything else.
    pub(crate) fn number(mut self) -> Option<f64> {
        self.end_line();
        self.last.number()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number_in(output: &[u8]) -> Option<f64> {
        let mut line = LastLine::default();
        line.add(output);
        line.number()
    }

    #[test]
    fn the_last_line_counts() {
        for (output, number) in [
            ("12\n", Some(12.0)),
            ("12", Some(12.0)),
            ("jobs:\n 3.5e2 \r\n\n  \n", Some(350.0)),
            ("1\n-2", Some(-2.0)),
            ("", None),
            ("\n\n", None),
            ("12 jobs\n", None),
            ("1,5\n", None),
            ("nan\n", None),
            ("inf\n", None),
            ("1e999\n", None),
            ("5\nerror\n", None),
        ] {
            assert_eq!(number_in(output.as_bytes()), number, "{output:?}");
        }
    }

    #[test]
    fn a_long_line_is_no_number_and_takes_no_memory() {
        let mut line = LastLine::default();
        for _ in 0..1000 {
            line.add(&[b'1'; 1000]);
        }
        assert!(line.current.bytes.capacity() <= 2 * LINE_BYTES_MAX);
        assert_eq!(line.number(), None);
        assert_eq!(number_in(f64::MIN_POSITIVE.to_string().as_bytes()), Some(f64::MIN_POSITIVE));
        let padded = [vec![b' '; 100_000], b"7".to_vec(), vec![b' '; 100_000]].concat();
        assert_eq!(number_in(&padded), Some(7.0));
    }

    proptest! {
        #[test]
        fn every_finite_number_is_read_back(number in any::<f64>(), before in "(\\PC{0,20}\n){0,3}", after in "[\n \t]{0,5}") {
            let output = format!("{before}{number}{after}");
            let expected = Some(number).filter(|number| number.is_finite());
            prop_assert_eq!(number_in(output.as_bytes()), expected);
        }

        #[test]
        fn pieces_do_not_matter(output in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b' '), Just(b'1'), any::<u8>()], 0..600), cut in 0_usize..600) {
            let (one, two) = output.split_at(cut.min(output.len()));
            let mut line = LastLine::default();
            line.add(one);
            line.add(two);
            prop_assert_eq!(line.number(), number_in(&output));
        }
    }
}
