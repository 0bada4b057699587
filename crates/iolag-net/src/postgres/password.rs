//! Where is looked for what is not in the URL: where PostgreSQL's own programs look.

use std::path::PathBuf;

use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::Variables;
use crate::credentials::read_private;

/// Places of passwords, and what variables say besides.
#[derive(Clone, Default)]
pub struct PasswordSources {
    environment: Option<String>,
    file: Option<PathBuf>,
    pub(super) parameters: Vec<(&'static str, String)>,
}

/// Variables that stand for a parameter of a URL (libpq, 34.15).
const PARAMETERS: &[(&str, &str)] = &[
    ("PGHOST", "host"),
    ("PGPORT", "port"),
    ("PGUSER", "user"),
    ("PGDATABASE", "dbname"),
    ("PGOPTIONS", "options"),
    ("PGSSLMODE", "sslmode"),
    ("PGSSLROOTCERT", "sslrootcert"),
];

impl std::fmt::Debug for PasswordSources {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("PasswordSources").field("file", &self.file).finish_non_exhaustive()
    }
}

impl PasswordSources {
    /// `PGPASSWORD`, then the file `PGPASSFILE`, by default `.pgpass` in `HOME`; and `PGHOST`, `PGPORT`, `PGUSER`, `PGDATABASE`, `PGOPTIONS`,
    /// `PGSSLMODE` and `PGSSLROOTCERT`.
    pub fn of(variables: &Variables) -> Self {
        let parameter = |(variable, name): &(&str, &'static str)| {
            variables.get(variable).map(|value| (*name, value.to_owned()))
        };
        Self {
            environment: variables.get("PGPASSWORD").map(str::to_owned),
            file: variables.file("PGPASSFILE", ".pgpass"),
            parameters: PARAMETERS.iter().filter_map(parameter).collect(),
        }
    }

    /// Nowhere but in the URL.
    pub const fn none() -> Self {
        Self { environment: None, file: None, parameters: Vec::new() }
    }

    /// In this file only.
    pub const fn file(path: PathBuf) -> Self {
        Self { environment: None, file: Some(path), parameters: Vec::new() }
    }

    /// The password for `config`, if there is one; or why a file that is there was not read.
    pub(crate) fn find(&self, config: &Config) -> Result<Option<String>, String> {
        if let Some(password) = &self.environment {
            return Ok(Some(password.clone()));
        }
        let Some(path) = &self.file else { return Ok(None) };
        Ok(read_private(path)?.and_then(|text| password_of(&text, config)))
    }
}

/// The password in the first line that fits: `host:port:database:user:password`, `*` for any, `\` before `:` and `\` in a field.
fn password_of(text: &str, config: &Config) -> Option<String> {
    let host = match config.get_hosts().first()? {
        Host::Tcp(name) => name.clone(),
        Host::Unix(path)
            if path.starts_with("/var/run/postgresql") || path.starts_with("/run/postgresql") =>
        {
            "localhost".to_owned()
        }
        Host::Unix(path) => path.to_string_lossy().into_owned(),
    };
    let user = config.get_user().map_or_else(|| std::env::var("USER").unwrap_or_default(), str::to_owned);
    let port = config.get_ports().first().copied().unwrap_or(5432).to_string();
    let database = config.get_dbname().map_or_else(|| user.clone(), str::to_owned);
    let wanted = [host, port, database, user];
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let fields = fields_of(line);
        let fits = fields.len() == 5
            && wanted.iter().zip(&fields).all(|(wanted, (field, is_any))| *is_any || field == wanted);
        fits.then(|| fields[4].0.clone())
    })
}

/// The fields of a line, each with whether it stands for anything.
fn fields_of(line: &str) -> Vec<(String, bool)> {
    let mut fields = vec![(String::new(), false)];
    let mut is_escaped = false;
    for letter in line.chars() {
        let last = fields.len() - 1;
        match letter {
            _ if is_escaped => {
                fields[last].0.push(letter);
                is_escaped = false;
            }
            '\\' => is_escaped = true,
            ':' if last < 4 => fields.push((String::new(), false)),
            _ => fields[last].0.push(letter),
        }
        let last = fields.len() - 1;
        fields[last].1 = fields[last].0 == "*" && letter == '*';
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::os::unix::fs::PermissionsExt;
    use std::str::FromStr;

    fn find(text: &str, url: &str) -> Option<String> {
        password_of(text, &Config::from_str(url).unwrap())
    }

    #[test]
    fn the_first_line_that_fits_counts() {
        let text = "# comment\ndb:5432:other:me:no\ndb:*:iolag:me:p\\:a\\\\ss:word\n*:*:*:*:fallback\n";
        assert_eq!(find(text, "postgres://me@db/iolag").as_deref(), Some("p:a\\ss:word"));
        assert_eq!(find(text, "postgres://you@db/iolag").as_deref(), Some("fallback"));
        assert_eq!(find("db:1:iolag:me:x", "postgres://me@db/iolag"), None);
        assert_eq!(
            find("localhost:5432:d:me:x", "postgres://me@/d?host=/run/postgresql").as_deref(),
            Some("x")
        );
    }

    #[test]
    fn a_file_that_others_may_read_is_not_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pgpass");
        std::fs::write(&path, "*:*:*:*:geheim\n").unwrap();
        let config = Config::from_str("postgres://me@db/iolag").unwrap();
        let permit = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        permit(0o640);
        let why = PasswordSources::file(path.clone()).find(&config).unwrap_err();
        assert!(why.contains("chmod 600") && !why.contains("geheim"), "{why}");
        permit(0o600);
        assert_eq!(PasswordSources::file(path.clone()).find(&config), Ok(Some("geheim".to_owned())));
        assert_eq!(PasswordSources::none().find(&config), Ok(None));
    }

    proptest! {
        #[test]
        fn no_file_makes_it_panic(text in "[a-z:*\\\\#\\n]{0,60}") {
            let _ = find(&text, "postgres://me@db/iolag");
        }
    }
}
