//! What the kernel tells of a process in /proc/PID/stat.

/// The fields of such a file, numbered as in proc(5). Of a process that is not there nothing is known: its text is empty.
#[derive(Debug, Clone, Copy)]
pub struct ProcessStat<'a> {
    /// From the third field on: the second is a name that may hold spaces and parentheses.
    fields: &'a str,
}

impl<'a> ProcessStat<'a> {
    /// In the text of the file.
    pub fn of(text: &'a str) -> Self {
        Self { fields: text.rsplit_once(')').map_or("", |(_, fields)| fields) }
    }

    /// What it does: `R`, `S`, `D`, `T`, `Z`, ….
    pub fn state(self) -> Option<&'a str> {
        self.field(3)
    }

    /// Whether it is there, and not only because nobody has asked how it ended.
    pub fn is_living(self) -> bool {
        self.state().is_some_and(|state| !matches!(state, "Z" | "X"))
    }

    /// Its start in clock ticks since boot, which with its id names it for as long as the machine runs.
    pub fn start_ticks(self) -> Option<u64> {
        self.number(22)
    }

    /// Clock ticks that it was busy, for its user and in the kernel, with those of threads that have ended.
    pub fn busy_ticks(self) -> Option<u64> {
        Some(self.number(14)? + self.number(15)?)
    }

    /// The number in a field.
    pub fn number(self, field: usize) -> Option<u64> {
        self.field(field)?.parse().ok()
    }

    fn field(self, field: usize) -> Option<&'a str> {
        self.fields.split_ascii_whitespace().nth(field.checked_sub(3)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_spaces_and_parentheses_does_not_shift_the_fields() {
        let stat = ProcessStat::of("7 (a) b (c)) S 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4242 9 9");
        assert_eq!((stat.state(), stat.number(4), stat.start_ticks()), (Some("S"), Some(1), Some(4242)));
        assert!(stat.is_living() && !ProcessStat::of("7 (a) Z 1").is_living());
    }

    #[test]
    fn of_who_is_gone_nothing_is_known() {
        let gone = ProcessStat::of("");
        assert_eq!((gone.state(), gone.start_ticks(), gone.is_living()), (None, None, false));
    }
}
