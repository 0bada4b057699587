//! Secrets in target URLs, taken out before anything is shown or stored.

/// What stands in place of a secret.
pub const HIDDEN: &str = "***";

/// Parameters of a URL whose value is a secret if their name contains one of these.
const SECRET_NAMES: &[&str] = &["password", "passwd", "secret", "token", "signature", "credential"];

/// The text with the password of every `scheme://user:password@host` in it, and the values of parameters that are called
/// password, secret, token or the like, replaced by `***`.
///
/// When in doubt too much is hidden: a password that should have been percent-encoded, with `/`, `?` or `@` in it, is
/// taken to reach to the last `@` before white space. A password with white space in it must be percent-encoded.
pub fn redact(text: &str) -> String {
    let mut redacted = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("://") {
        let (before, after) = rest.split_at(start + 3);
        redacted.push_str(before);
        let end = after.find(char::is_whitespace).unwrap_or(after.len());
        let (url, following) = after.split_at(end);
        redacted.push_str(&without_secret_parameters(&without_password(url)));
        rest = following;
    }
    redacted.push_str(rest);
    redacted
}

/// The same of an argument as a command line may show it: its URL may hold white space.
pub fn redact_argument(text: &str) -> String {
    // For private use, and no white space: what is left of it in what may be shown is put back.
    const JOINED: u32 = 0xf_0000;
    let joined = |letter: char| match letter.is_whitespace() {
        true => char::from_u32(JOINED + u32::from(letter)).unwrap_or('_'),
        false => letter,
    };
    let parted = |letter: char| {
        let written = u32::from(letter).checked_sub(JOINED).and_then(char::from_u32);
        written.filter(|letter| letter.is_whitespace()).unwrap_or(letter)
    };
    redact(&text.chars().map(joined).collect::<String>()).chars().map(parted).collect()
}

/// The words of a user's command as they may be kept: besides URLs also without the values of options and variables that are called password,
/// token or the like, in one word (`--password=x`, `user=me,password=x`), in two (`--password x`), or within what a shell reads.
pub fn redact_command(words: &[String]) -> Vec<String> {
    let mut is_value = false;
    let shown = |word: &String| {
        let asks = word.starts_with('-') && is_secret(word) && word.chars().all(is_of_name);
        match std::mem::replace(&mut is_value, asks) {
            true => HIDDEN.to_owned(),
            false => without_secret_values(&redact_argument(word)),
        }
    };
    words.iter().map(shown).collect()
}

/// What a command said of what it was given.
pub fn redact_line(line: &str) -> String {
    without_secret_values(&redact(line))
}

const fn is_of_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
}

/// In doubt a value reaches far: to where a shell or a list of options would certainly end it.
fn without_secret_values(word: &str) -> String {
    let mut shown = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(begin) = rest.find(is_of_name) {
        let length = rest[begin..].find(|character| !is_of_name(character)).unwrap_or(rest.len() - begin);
        let name = &rest[begin..begin + length];
        let (known, after) = rest.split_at(begin + length);
        let is_first = shown.is_empty();
        shown.push_str(known);
        rest = after;
        let has_value =
            |next: &char| matches!(next, '=' | ':') || name.starts_with('-') && next.is_whitespace();
        if let Some(next) = after.chars().next().filter(has_value).filter(|_| is_secret(name)) {
            let value = after[next.len_utf8()..].trim_start();
            shown.push(next);
            shown.push_str(HIDDEN);
            // What has the name in front, and is one word, is all its value, whatever is in it.
            let is_all = is_first && next == '=' && !value.contains(char::is_whitespace);
            let end = if is_all { value.len() } else { end_of_value(value) };
            rest = &value[end..];
        }
    }
    shown + rest
}

fn end_of_value(value: &str) -> usize {
    let end = match value.chars().next() {
        Some(quote @ ('\'' | '"')) => value[1..].find(quote).map(|at| at + 2),
        _ => value.find([',', ';', '&', '|', '\n']),
    };
    end.unwrap_or(value.len())
}

fn without_password(url: &str) -> String {
    let hidden = url.rfind('@').and_then(|at| {
        let colon = url[..at].find(':')?;
        Some(format!("{}:{HIDDEN}{}", &url[..colon], &url[at..]))
    });
    hidden.unwrap_or_else(|| url.to_owned())
}

fn without_secret_parameters(url: &str) -> String {
    let mut redacted = String::with_capacity(url.len());
    for parameter in url.split_inclusive(['?', '&', ';', '#']) {
        match parameter.split_once('=') {
            Some((name, value)) if is_secret(name) => {
                let separator = value.find(['?', '&', ';', '#']).map_or("", |at| &value[at..]);
                redacted.extend([name, "=", HIDDEN, separator]);
            }
            _ => redacted.push_str(parameter),
        }
    }
    redacted
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_NAMES.iter().any(|secret| name.contains(secret))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn passwords_are_hidden_and_the_rest_is_kept() {
        for (text, redacted) in [
            ("/scratch/me", "/scratch/me"),
            ("/scratch/a:b@c", "/scratch/a:b@c"),
            ("s3://host:9000/bucket", "s3://host:9000/bucket"),
            ("postgres://me@host/db", "postgres://me@host/db"),
            ("postgres://me:pw@host:5432/db", "postgres://me:***@host:5432/db"),
            ("redis://:pw@host", "redis://:***@host"),
            ("postgres://me:p@s/s?w#d:x@host/db", "postgres://me:***@host/db"),
            ("delayed:5ms:s3://k:pw@host/b", "delayed:5ms:s3://k:***@host/b"),
            ("cannot open s3://a:b@c: no; nor s3://d:e@f", "cannot open s3://a:***@c: no; nor s3://d:***@f"),
            ("https://h/p?user=me&password=pw&x=1", "https://h/p?user=me&password=***&x=1"),
            ("https://h/p?X-Amz-Signature=ab12", "https://h/p?X-Amz-Signature=***"),
        ] {
            assert_eq!(redact(text), redacted);
        }
    }

    #[test]
    fn an_argument_shows_no_password_in_any_form() {
        for (text, shown) in [
            ("postgres://u:geheim@h/x", "postgres://u:***@h/x"),
            ("--history=postgres://u:geheim@h/x", "--history=postgres://u:***@h/x"),
            ("postgres://u:ge heim@h/x", "postgres://u:***@h/x"),
            ("postgres://u@h/x?password=ge heim", "postgres://u@h/x?password=***"),
            ("postgres://u:ge heim@h/x is\ttold", "postgres://u:***@h/x is\ttold"),
            ("the disk of /home was full", "the disk of /home was full"),
        ] {
            assert_eq!(redact_argument(text), shown);
        }
    }

    #[test]
    fn a_command_shows_no_password_that_is_called_one() {
        for (words, shown) in [
            (&["mount", "-o", "size=32m", "none", "/m"][..], &["mount", "-o", "size=32m", "none", "/m"][..]),
            (
                &["mount", "-o", "username=me,password=ge heim,vers=3"],
                &["mount", "-o", "username=me,password=***,vers=3"],
            ),
            (&["load", "--password", "geheim", "x"], &["load", "--password", "***", "x"]),
            (&["load", "--password=geheim", "x"], &["load", "--password=***", "x"]),
            (&["load", "--password=ge,hei;m&'x", "y"], &["load", "--password=***", "y"]),
            (&["env", "PGPASSWORD=ge;heim", "x"], &["env", "PGPASSWORD=***", "x"]),
            (&["load", "--no-password", "--token", "geheim"], &["load", "--no-password", "***", "***"]),
            (&["env", "PGPASSWORD=geheim", "x"], &["env", "PGPASSWORD=***", "x"]),
            (&["sh", "-c", "load --secret 'ge;heim'; echo on"], &["sh", "-c", "load --secret ***; echo on"]),
            (&["sh", "-c", "TOKEN=geheim load | grep x"], &["sh", "-c", "TOKEN=***| grep x"]),
            (&["curl", "-H", "X-Auth-Token: geheim"], &["curl", "-H", "X-Auth-Token:***"]),
            (&["psql", "postgres://me:geheim@h/x"], &["psql", "postgres://me:***@h/x"]),
            (
                &["systemctl", "start", "secret-mount.service"],
                &["systemctl", "start", "secret-mount.service"],
            ),
            (&["--token"], &["--token"]),
        ] {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(redact_command(&words), shown);
            assert_eq!(redact_command(&redact_command(&words)), shown, "once is enough");
        }
    }

    #[test]
    fn what_a_command_says_shows_no_password_that_is_called_one() {
        for (line, shown) in [
            ("bad option --password=geheim", "bad option --password=***"),
            ("cannot unmount https://me:geheim@h: busy", "cannot unmount https://me:***@h: busy"),
            ("password=geheim token: geheim, and so on", "password=***, and so on"),
            ("no such file: /home/me", "no such file: /home/me"),
        ] {
            assert_eq!(redact_line(line), shown);
        }
    }

    proptest! {
        #[test]
        fn no_command_makes_it_panic(words in prop::collection::vec("([a-z]{0,4}|-|token|=|:|,|'|\"| |ä|\n){0,12}", 0..4)) {
            prop_assert_eq!(redact_command(&words).len(), words.len());
        }

        #[test]
        fn no_password_is_left(password in "[!-~äß€]{1,30}", host in "[a-z]{1,8}", path in "(/[a-z0-9]{0,8}){0,3}") {
            let text = format!("scheme://USER:{password}@{host}{path}");
            prop_assert_eq!(redact(&text), format!("scheme://USER:***@{host}{path}"));
        }

        #[test]
        fn no_text_makes_it_panic_and_once_is_enough(text in "([a-z0-9]{0,4}(://|:|@|/|\\?|=|&| )){0,12}|\\PC{0,60}") {
            let once = redact(&text);
            prop_assert_eq!(redact(&once), once);
        }
    }
}
