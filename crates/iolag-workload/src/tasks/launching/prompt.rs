//! When a shell shows its prompt.
//!
//! A shell with a line editor (bash, zsh, fish, tcsh) takes the terminal out of its line mode just before it writes the
//! prompt: the first visible text after that is the prompt, however long the `rc` files took and whatever they wrote. A
//! shell without one (dash) leaves the terminal as it is: there the prompt is what it wrote last, when it has been quiet for
//! 50 ms and has done nothing for 50 ms more, its own process group is in the foreground, it sleeps without children, and
//! where the kernel tells on what, it is on its terminal.
//!
//! Limits: an `rc` file that itself reads single keys looks like a line editor.

use iolag_model::Nanoseconds;

/// How long it must be quiet where nothing else tells.
pub(crate) const QUIET: Nanoseconds = Nanoseconds::from_milliseconds(50);

/// What the kernel sleeps in for a read or a poll of a terminal, by its versions.
const TERMINAL_WAITS: [&str; 8] = [
    "n_tty_read",
    "wait_woken",
    "tty_read",
    "poll_schedule_timeout",
    "do_select",
    "core_sys_select",
    "do_poll",
    "do_sys_poll",
];

/// What has been shown since the last key that was typed.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    escape: Escape,
    has_any: bool,
    /// Whether there is visible text after the last line's end.
    is_visible: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Escape {
    #[default]
    None,
    Begun,
    /// Control sequence: until a letter or the like.
    Control,
    /// Text for the terminal itself, a window title say: until BEL or ESC \.
    Text,
}

impl Shown {
    /// More output.
    pub(crate) fn add(&mut self, output: &[u8]) {
        for byte in output {
            self.has_any = true;
            self.escape = match (self.escape, *byte) {
                (_, 0x1b) => Escape::Begun,
                (Escape::Begun, b'[') => Escape::Control,
                (Escape::Begun, b']' | b'P' | b'X' | b'^' | b'_') => Escape::Text,
                // A character set is named by one more byte.
                (Escape::Begun, b'(' | b')' | b'#' | b'%') => Escape::Begun,
                (Escape::Begun, _) => Escape::None,
                (Escape::Control, 0x40..=0x7e) => Escape::None,
                (Escape::Text, 0x07) => Escape::None,
                (Escape::None, b'\n' | b'\r') => {
                    self.is_visible = false;
                    Escape::None
                }
                (Escape::None, byte) => {
                    self.is_visible |= byte > b' ' && byte != 0x7f;
                    Escape::None
                }
                (other, _) => other,
            };
        }
    }

    /// Whether anything was written.
    pub(crate) const fn has_any(&self) -> bool {
        self.has_any
    }

    /// Whether the cursor's line has something visible in it.
    pub(crate) const fn is_visible(&self) -> bool {
        self.is_visible
    }
}

/// Whether a process that sleeps in this function of the kernel may be waiting for its terminal. What the kernel does not
/// tell (`0` or nothing) may be.
pub(crate) fn may_be_terminal(wait_channel: &str) -> bool {
    let wait_channel = wait_channel.trim();
    matches!(wait_channel, "" | "0") || TERMINAL_WAITS.iter().any(|known| wait_channel.starts_with(known))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(output: &str) -> Shown {
        let mut shown = Shown::default();
        shown.add(output.as_bytes());
        shown
    }

    #[test]
    fn a_prompt_is_visible_text_at_the_cursor() {
        for prompt in [
            "$ ",
            "Welcome\r\n\x1b[?2004h\x1b]0;me@host: ~\x07me@host:~$ ",
            "\x1b[?2004l\r\r\n\x1b[01;32muser\x1b[00m% ",
            "\x1b(B# ",
            "π ",
        ] {
            assert!(shown(prompt).is_visible(), "{prompt:?}");
        }
        for other in [
            "",
            "\r\n",
            "Welcome\r\n",
            "\x1b[?2004h",
            "\x1b]0;title\x07",
            "\x1b]0;title\x1b\\",
            "   ",
            "$ \r",
        ] {
            assert!(!shown(other).is_visible(), "{other:?}");
        }
        assert!(shown("\r\n").has_any() && !shown("").has_any());
    }

    #[test]
    fn a_shell_that_waits_for_a_file_server_shows_no_prompt() {
        for channel in ["n_tty_read", "wait_woken", "0", "", "poll_schedule_timeout.constprop.0"] {
            assert!(may_be_terminal(channel), "{channel}");
        }
        for channel in ["rpc_wait_bit_killable", "request_wait_answer", "do_wait", "ptlrpc_set_wait"] {
            assert!(!may_be_terminal(channel), "{channel}");
        }
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(output in prop::collection::vec(prop_oneof![Just(0x1b), Just(b'['), Just(b']'), Just(7), any::<u8>()], 0..100), cut in 0_usize..100) {
            let (one, two) = output.split_at(cut.min(output.len()));
            let (mut whole, mut pieces) = (Shown::default(), Shown::default());
            whole.add(&output);
            pieces.add(one);
            pieces.add(two);
            prop_assert_eq!(whole.is_visible(), pieces.is_visible());
            prop_assert_eq!(whole.has_any(), pieces.has_any());
        }
    }
}
