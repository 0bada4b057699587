//! Logins of machines, as ftp(1) and curl(1) read them: `machine NAME login USER password SECRET`, `default …`.

use crate::credentials::read_private;
use crate::{Secret, Variables};

/// A user and the password that goes with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    /// Who.
    pub user: String,
    /// The password.
    pub password: Secret,
}

/// The login for a host, of this user if one is asked for, in the file that `NETRC` names, by default `.netrc` in `HOME`.
///
/// # Errors
/// Why a file that is there was not read, in a sentence.
pub fn login_of(host: &str, user: Option<&str>, variables: &Variables) -> Result<Option<Login>, String> {
    let Some(path) = variables.file("NETRC", ".netrc") else { return Ok(None) };
    Ok(read_private(&path)?.and_then(|text| find(&text, host, user)))
}

/// The first machine that fits.
fn find(text: &str, host: &str, user: Option<&str>) -> Option<Login> {
    let mut words = Words(text);
    let mut entry: Option<Entry> = None;
    while let Some(word) = words.next() {
        let begins = match word.as_str() {
            "machine" => Some(Entry::of(words.next()? == host)),
            "default" => Some(Entry::of(true)),
            _ => None,
        };
        if let Some(begun) = begins {
            if let Some(login) = entry.replace(begun).and_then(|ended| ended.login(user)) {
                return Some(login);
            }
            continue;
        }
        match (word.as_str(), &mut entry) {
            ("login", Some(entry)) => entry.login = words.next(),
            ("password", Some(entry)) => entry.password = words.next(),
            ("account", _) => drop(words.next()),
            ("macdef", _) => words.skip_macro(),
            _ => {}
        }
    }
    entry.and_then(|entry| entry.login(user))
}

/// What the file says of a machine.
struct Entry {
    fits: bool,
    login: Option<String>,
    password: Option<String>,
}

impl Entry {
    const fn of(fits: bool) -> Self {
        Self { fits, login: None, password: None }
    }

    fn login(self, user: Option<&str>) -> Option<Login> {
        let (login, password) = (self.login?, self.password?);
        let fits = self.fits && user.is_none_or(|user| user == login);
        fits.then(|| Login { user: login, password: password.into() })
    }
}

/// Words between white space; quotes keep it, and `\` the next character within them. `#` begins a comment.
struct Words<'a>(&'a str);

impl Words<'_> {
    /// A macro ends with an empty line.
    fn skip_macro(&mut self) {
        self.0 = self.0.find("\n\n").map_or("", |end| &self.0[end..]);
    }
}

impl Iterator for Words<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        self.0 = self.0.trim_start();
        while self.0.starts_with('#') {
            self.0 = self.0.find('\n').map_or("", |end| &self.0[end..]).trim_start();
        }
        let Some(quoted) = self.0.strip_prefix('"') else {
            let end = self.0.find(char::is_whitespace).unwrap_or(self.0.len());
            let (word, rest) = self.0.split_at(end);
            self.0 = rest;
            return (!word.is_empty()).then(|| word.to_owned());
        };
        let mut word = String::new();
        let mut letters = quoted.char_indices();
        while let Some((index, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.0 = &quoted[index + 1..];
                    return Some(word);
                }
                '\\' => word.extend(letters.next().map(|(_, letter)| letter)),
                _ => word.push(letter),
            }
        }
        self.0 = "";
        Some(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_machine_that_fits_counts() {
        let text = "# mine\nmachine other login x password y\nmachine dav.example\n  login me\n  password \"se \\\"cret\"\n\
                    macdef init\nmachine none login a password b\n\nmachine dav.example login you password two\n\
                    default login anonymous password guest\n";
        let found =
            |host, user| find(text, host, user).map(|login| (login.user, login.password.reveal().to_owned()));
        let told = |user: &str, password: &str| Some((user.to_owned(), password.to_owned()));
        assert_eq!(found("dav.example", None), told("me", "se \"cret"));
        assert_eq!(found("dav.example", Some("you")), told("you", "two"));
        assert_eq!(found("none", None), told("anonymous", "guest"));
        assert_eq!(found("dav.example", Some("nobody")), None);
        assert_eq!(find("machine a login b", "a", None), None);
    }

    proptest! {
        #[test]
        fn no_file_makes_it_panic(text in "(machine|default|login|password|macdef|[a-z\"\\\\#]{0,3}| |\\n){0,30}") {
            let _ = find(&text, "a", None);
        }
    }
}
