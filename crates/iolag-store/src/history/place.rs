//! What the text that is to name a history names: a server, a file, or nothing; and how it may be shown.
//!
//! Invariant: of a text that names neither nothing but its scheme is ever shown, since it may hold a password: somebody mistyped a URL, or
//! wrote what libpq's programs take. A file with such a name is still reached, by a path that begins with `/` or `./`.

use super::HistoryError;

/// Schemes of servers that are histories.
const SCHEMES: [&str; 2] = ["postgres", "postgresql"];
/// What people take for a scheme of a history, or have seen in URLs of databases.
const FAMILIAR: [&str; 22] = [
    "postgres",
    "postgresql",
    "postgre",
    "postgressql",
    "postgesql",
    "psql",
    "pgsql",
    "pg",
    "mysql",
    "mariadb",
    "sqlite",
    "sqlite3",
    "mongodb",
    "redis",
    "mssql",
    "oracle",
    "jdbc",
    "influxdb",
    "http",
    "https",
    "file",
    "odbc",
];
/// The keywords of libpq's connection strings.
const KEYWORDS: [&str; 18] = [
    "host",
    "hostaddr",
    "port",
    "dbname",
    "user",
    "password",
    "passfile",
    "service",
    "servicefile",
    "options",
    "sslmode",
    "sslcert",
    "sslkey",
    "sslpassword",
    "sslrootcert",
    "connect_timeout",
    "application_name",
    "target_session_attrs",
];

const WITHOUT_SCHEME: &str = "it looks like a URL of a kind that iolag does not know (a file of that name is written with ./ before it)";

/// What a text names.
enum Named {
    /// A server.
    Server,
    /// A file.
    File,
    /// Neither: what may be shown of it, and what is wrong with it.
    Neither { shown: String, what: String },
}

/// Whether `place` names a server rather than a file. The case of its scheme does not matter (RFC 3986, section 3.1).
pub fn is_server(place: &str) -> bool {
    matches!(named(place), Named::Server)
}

/// Whether `place` names a file. What names neither a server nor a file is refused by [`check_place`].
pub fn is_path(place: &str) -> bool {
    matches!(named(place), Named::File)
}

/// The same place with its scheme in lower case, if it names a server.
pub fn same_scheme(place: &str) -> String {
    match place.trim_start().split_once("://") {
        Some((scheme, rest)) if is_server(place) => format!("{}://{rest}", scheme.to_ascii_lowercase()),
        _ => place.to_owned(),
    }
}

/// Refuses what names neither a server nor a file.
///
/// # Errors
/// One sentence that holds no part of `place` but its scheme.
pub fn check_place(place: &str) -> Result<(), HistoryError> {
    match named(place) {
        Named::Server | Named::File => Ok(()),
        Named::Neither { shown, what } => Err(HistoryError::Place { location: shown, what }),
    }
}

/// The place as it may be shown: of a URL host, user and database only.
pub fn shown_place(place: &str) -> String {
    match named(place) {
        Named::File => place.to_owned(),
        #[cfg(feature = "postgres")]
        Named::Server => super::postgres::shown(&same_scheme(place)),
        #[cfg(not(feature = "postgres"))]
        Named::Server => "postgres://…".to_owned(),
        Named::Neither { shown, .. } => shown,
    }
}

fn named(place: &str) -> Named {
    let place = place.trim_start();
    let first = place.split('/').next().unwrap_or_default();
    // `user:password@…`, wherever it stands.
    let has_user = place.split_once('@').is_some_and(|(user, _)| user.contains(':'));
    if first.is_empty() {
        // What begins with one slash is a path, whatever else it looks like.
        return if place.starts_with("//") && has_user {
            neither("…", WITHOUT_SCHEME)
        } else {
            Named::File
        };
    }
    if matches!(first, "." | "..") {
        return Named::File;
    }
    if first.starts_with('~') {
        return neither("~…", "only a shell knows what ~ stands for; write the whole path");
    }
    if is_keyword_string(place) {
        return neither("…=…", "it is written in the keywords of libpq, and iolag takes a URL");
    }
    let Some((scheme, _)) = first.split_once(':') else {
        return if has_user { neither("…", WITHOUT_SCHEME) } else { Named::File };
    };
    let lower = scheme.to_ascii_lowercase();
    let is_scheme = lower.starts_with(|first: char| first.is_ascii_lowercase())
        && lower.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let is_url = is_scheme && place[scheme.len()..].starts_with("://");
    if SCHEMES.contains(&lower.as_str()) {
        let unfinished =
            || neither(&format!("{lower}:…"), &format!("after {lower} come a colon and two slashes"));
        return if is_url { Named::Server } else { unfinished() };
    }
    if is_url || FAMILIAR.contains(&lower.as_str()) {
        let slashes = if is_url { "//" } else { "" };
        let what = format!("{lower} is no kind of server that iolag keeps histories in");
        return neither(&format!("{lower}:{slashes}…"), &what);
    }
    if first.ends_with(':') || has_user { neither("…", WITHOUT_SCHEME) } else { Named::File }
}

fn neither(shown: &str, what: &str) -> Named {
    Named::Neither { shown: shown.to_owned(), what: what.to_owned() }
}

/// Whether the text begins with, or has somewhere between blanks, a keyword of libpq with a value.
fn is_keyword_string(place: &str) -> bool {
    let mut rest = place;
    while let Some((before, after)) = rest.split_once('=') {
        let name = before.trim_end().rsplit(char::is_whitespace).next().unwrap_or_default();
        if KEYWORDS.iter().any(|keyword| keyword.eq_ignore_ascii_case(name)) {
            return true;
        }
        rest = after;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn refusal(place: &str) -> String {
        check_place(place).unwrap_err().to_string()
    }

    #[test]
    fn servers_and_files_are_told_apart() {
        for place in [
            "postgres://db/x",
            "POSTGRES://me:Geheim@db/x",
            "PostgreSQL://db",
            "postgresql://me@/x?host=/run",
        ] {
            assert!(is_server(place) && !is_path(place) && check_place(place).is_ok(), "{place}");
        }
        for place in [
            "/var/lib/iolag/history.sqlite",
            "history.sqlite",
            "./postgres://x",
            "../host=a password=b",
            "/data/me@host:5/history",
            "snapshots/@daily/history",
            "me@host",
            "12:30.sqlite",
            "a=b.sqlite",
            "C:history",
        ] {
            assert!(is_path(place) && !is_server(place) && check_place(place).is_ok(), "{place}");
            assert_eq!(shown_place(place), place);
        }
    }

    #[test]
    fn what_was_mistyped_is_refused_without_what_may_be_secret() {
        for (place, parts) in [
            ("mysql://me:Geheim@db/x", ["mysql://… does not name", "mysql is no kind of server"]),
            ("MySQL://me:Geheim@db/x", ["mysql://… does not name", "mysql is no kind of server"]),
            ("postgres:me:Geheim@db/x", ["postgres:… does not name", "two slashes"]),
            ("postgresql:/me:Geheim@db/x", ["postgresql:… does not name", "two slashes"]),
            ("Postgres:Geheim", ["postgres:… does not name", "two slashes"]),
            ("postgre://me:Geheim@db/x", ["postgre://…", "is no kind of server"]),
            ("sqlite:Geheim", ["sqlite:…", "is no kind of server"]),
            ("postgres//me:Geheim@db/x", ["… does not name", "looks like a URL"]),
            ("//me:Geheim@db/x", ["… does not name", "looks like a URL"]),
            ("me:Geheim@db/x", ["… does not name", "looks like a URL"]),
            ("\"postgres://me:Geheim@db/x\"", ["… does not name", "looks like a URL"]),
            ("~/Geheim", ["~… does not name", "write the whole path"]),
            ("host=db password=Geheim", ["…=… does not name", "keywords of libpq"]),
            ("  PASSWORD = 'Geheim' host=db", ["…=… does not name", "keywords of libpq"]),
            ("dbname=x sslpassword=Geheim", ["…=… does not name", "keywords of libpq"]),
        ] {
            for said in [refusal(place), shown_place(place)] {
                assert!(!said.contains("Geheim"), "{place}: {said}");
            }
            let said = refusal(place);
            assert!(parts.iter().all(|part| said.contains(part)), "{place}: {said}");
            assert!(said.contains("expected postgres://USER@HOST/DATABASE or the path of a file"), "{said}");
            assert!(!is_server(place) && !is_path(place), "{place}");
        }
    }

    #[test]
    fn the_case_of_a_scheme_does_not_matter() {
        assert_eq!(same_scheme("POSTGRES://me@db/X"), "postgres://me@db/X");
        assert_eq!(same_scheme(" Postgresql://me@db/X"), "postgresql://me@db/X");
        assert_eq!(same_scheme("/A/B"), "/A/B");
        #[cfg(feature = "postgres")]
        assert_eq!(shown_place("PostgreSQL://me:Geheim@db/x"), "postgres://me@db:5432/x");
    }

    proptest! {
        #[test]
        fn any_text_is_one_of_the_three(text in any::<String>()) {
            let ways = [is_server(&text), is_path(&text), check_place(&text).is_err()];
            prop_assert_eq!(ways.into_iter().filter(|is_so| *is_so).count(), 1, "{:?}", text);
            let _ = shown_place(&text);
        }

        #[test]
        fn no_password_of_a_url_is_shown(
            scheme in "[a-zA-Z]{0,12}", colon in ":?", slashes in "/{0,3}", user in "[a-z]{0,5}", password in "[A-Z]{12}", rest in "[a-z/:?=&]{0,20}"
        ) {
            // An explicit path is a path, whatever else it looks like.
            prop_assume!(!(scheme.is_empty() && colon.is_empty() && slashes == "/"));
            let place = format!("{scheme}{colon}{slashes}{user}:{password}@host/{rest}");
            prop_assert!(!shown_place(&place).contains(&password), "{} is shown as {}", place, shown_place(&place));
            if let Err(error) = check_place(&place) {
                prop_assert!(!error.to_string().contains(&password), "{}", error);
            }
        }
    }
}
