//! Signals by name.

use super::scanning::leading_number;

const NAMES: [&[u8]; 31] = [
    b"HUP", b"INT", b"QUIT", b"ILL", b"TRAP", b"ABRT", b"BUS", b"FPE", b"KILL", b"USR1", b"SEGV", b"USR2",
    b"PIPE", b"ALRM", b"TERM", b"STKFLT", b"CHLD", b"CONT", b"STOP", b"TSTP", b"TTIN", b"TTOU", b"URG",
    b"XCPU", b"XFSZ", b"VTALRM", b"PROF", b"WINCH", b"IO", b"PWR", b"SYS",
];

/// The number of `SIGKILL` or `SIGRT_3`, as on x86-64.
pub(crate) fn signal_number(name: &[u8]) -> Option<u8> {
    const FIRST_REAL_TIME: u32 = 32;
    let short = name.strip_prefix(b"SIG")?;
    if let Some(number) = short.strip_prefix(b"RT_") {
        return u8::try_from(FIRST_REAL_TIME + leading_number(number).0?).ok();
    }
    let place = NAMES.iter().position(|known| *known == short)?;
    u8::try_from(place + 1).ok()
}

/// The name of a signal.
pub(crate) fn signal_name(number: u8) -> Option<&'static [u8]> {
    NAMES.get(usize::from(number).checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_numbers_and_back() {
        let numbers = [("SIGHUP", 1), ("SIGKILL", 9), ("SIGTERM", 15), ("SIGSYS", 31), ("SIGRT_1", 33)];
        for (name, number) in numbers {
            assert_eq!(signal_number(name.as_bytes()), Some(number), "{name}");
        }
        assert_eq!(signal_number(b"SIGNOT"), None);
        assert_eq!(signal_name(9), Some(&b"KILL"[..]));
        assert_eq!((signal_name(0), signal_name(99)), (None, None));
    }
}
