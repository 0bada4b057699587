//! What the environment and the files of the AWS programs say of an S3 store: `AWS_*`, `~/.aws/credentials` and `~/.aws/config`.
//!
//! The order is that of these programs: a variable, then the profile in the file of credentials, then in the other file. Nothing asks a
//! machine's own service for keys, and no other program.

use std::path::{Path, PathBuf};

use crate::credentials::read_private;
use crate::{Secret, Variables};

const FILE_BYTES_MAX: u64 = 1 << 20;

/// What is known of a store besides its bucket.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct S3Settings {
    /// The URL of the service, if it is not Amazon's.
    pub endpoint: Option<String>,
    /// The region that requests are signed for.
    pub region: Option<String>,
    /// Where the bucket stands in a URL.
    pub style: Option<AddressingStyle>,
    /// A file of certificates.
    pub ca_file: Option<PathBuf>,
    /// Who we are.
    pub key: Option<AccessKey>,
}

/// Where the bucket stands in a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressingStyle {
    /// First in the path.
    Path,
    /// In front of the host.
    Virtual,
}

/// Who we are in a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessKey {
    /// The id of the key, which is no secret.
    pub id: String,
    /// The key.
    pub secret: Secret,
    /// What goes with a key that was lent.
    pub token: Option<Secret>,
}

impl S3Settings {
    /// What variables and files say.
    ///
    /// # Errors
    /// If a profile that is asked for is nowhere, a file cannot be read, or half a key is given; in a sentence.
    pub fn find(variables: &Variables) -> Result<Self, String> {
        let asked = variables.get("AWS_PROFILE").or_else(|| variables.get("AWS_DEFAULT_PROFILE"));
        let profile = Profile::read(asked.unwrap_or("default"), variables)?;
        if let (Some(name), true) = (asked, profile.0.is_empty()) {
            return Err(format!(
                "the profile {name:?} of AWS_PROFILE is neither in ~/.aws/credentials nor in ~/.aws/config"
            ));
        }
        let get = |names: &[&str], keys: &[&str]| {
            let variable = names.iter().find_map(|name| variables.get(name));
            variable.or_else(|| keys.iter().find_map(|key| profile.get(key))).map(str::to_owned)
        };
        let style = match profile.get("s3.addressing_style").or_else(|| profile.get("addressing_style")) {
            Some("path") => Some(AddressingStyle::Path),
            Some("virtual") => Some(AddressingStyle::Virtual),
            _ => None,
        };
        Ok(Self {
            endpoint: get(&["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"], &["s3.endpoint_url", "endpoint_url"]),
            region: get(&["AWS_REGION", "AWS_DEFAULT_REGION"], &["region"]),
            style,
            ca_file: get(&["AWS_CA_BUNDLE"], &["ca_bundle"]).map(PathBuf::from),
            key: key(variables, &profile)?,
        })
    }
}

/// A key is all from one place: the token of one place does not go with the key of another.
fn key(variables: &Variables, profile: &Profile) -> Result<Option<AccessKey>, String> {
    const NAMES: [&str; 3] = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];
    let half =
        |present: &str, lacking: &str| format!("{present} is set and {lacking} is not: set both, or neither");
    match (variables.get(NAMES[0]), variables.get(NAMES[1])) {
        (Some(id), Some(secret)) => return Ok(Some(access_key(id, secret, variables.get(NAMES[2])))),
        (Some(_), None) => return Err(half(NAMES[0], NAMES[1])),
        (None, Some(_)) => return Err(half(NAMES[1], NAMES[0])),
        (None, None) => {}
    }
    let [id, secret, token] =
        ["aws_access_key_id", "aws_secret_access_key", "aws_session_token"].map(|key| profile.get(key));
    Ok(id.zip(secret).map(|(id, secret)| access_key(id, secret, token)))
}

fn access_key(id: &str, secret: &str, token: Option<&str>) -> AccessKey {
    AccessKey { id: id.to_owned(), secret: secret.into(), token: token.map(Secret::from) }
}

/// The settings of one profile, those that count first.
struct Profile(Vec<(String, String)>);

impl Profile {
    fn read(name: &str, variables: &Variables) -> Result<Self, String> {
        let credentials = variables.file("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials");
        let config = variables.file("AWS_CONFIG_FILE", ".aws/config");
        let mut settings = Vec::new();
        if let Some(text) = credentials.map_or(Ok(None), |path| read_private(&path))? {
            settings.extend(section(&text, |heading| heading == name));
        }
        if let Some(text) = config.map_or(Ok(None), |path| text_of(&path))? {
            let is_it = |heading: &str| {
                let named = heading.strip_prefix("profile").map(str::trim);
                named == Some(name) || (name == "default" && heading == name)
            };
            settings.extend(section(&text, is_it));
        }
        Ok(Self(settings))
    }

    fn get(&self, key: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(known, value)| known == key && !value.is_empty())
            .map(|(_, value)| value.as_str())
    }
}

fn text_of(path: &Path) -> Result<Option<String>, String> {
    use std::io::{ErrorKind, Read};
    let mut text = String::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(FILE_BYTES_MAX).read_to_string(&mut text));
    match read {
        Ok(_) => Ok(Some(text)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(format!("{} was not read: {error}", path.display())),
    }
}

/// The settings of the sections that are meant; what is indented below `s3 =` is called `s3.…`.
fn section(text: &str, is_meant: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let mut settings = Vec::new();
    let (mut is_inside, mut above) = (false, String::new());
    for line in text.lines() {
        let words = line.trim();
        if words.is_empty() || words.starts_with(['#', ';']) {
            continue;
        }
        if let Some(heading) = words.strip_prefix('[').and_then(|words| words.split(']').next()) {
            is_inside = is_meant(heading.trim());
            continue;
        }
        let Some((key, value)) = words.split_once('=').filter(|_| is_inside) else { continue };
        let (key, value) = (key.trim().to_ascii_lowercase(), value.trim().to_owned());
        let is_nested = line.starts_with([' ', '\t']) && !above.is_empty();
        if !is_nested {
            above = if value.is_empty() { key.clone() } else { String::new() };
        }
        settings.push((if is_nested { format!("{above}.{key}") } else { key }, value));
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(variables: &[(&str, &str)], config: &str, credentials: &str) -> Result<S3Settings, String> {
        found_with_mode(variables, config, credentials, 0o600)
    }

    fn found_with_mode(
        variables: &[(&str, &str)],
        config: &str,
        credentials: &str,
        mode: u32,
    ) -> Result<S3Settings, String> {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".aws")).unwrap();
        std::fs::write(home.path().join(".aws/config"), config).unwrap();
        let file = home.path().join(".aws/credentials");
        std::fs::write(&file, credentials).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        let own = variables.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        S3Settings::find(&own.chain([("HOME".to_owned(), home.path().display().to_string())]).collect())
    }

    const CONFIG: &str = "[default]\nregion = eu-1\n[profile site]\n# ours\nregion=here\ns3 =\n  addressing_style = path\n  \
                          endpoint_url = https://s3.site\nca_bundle = /etc/site.pem\n[profile other]\nregion = no\n";
    const CREDENTIALS: &str = "[default]\naws_access_key_id = D\naws_secret_access_key = E\n\
                               [site]\naws_access_key_id=A\naws_secret_access_key=geheim=\naws_session_token = t\n";

    #[test]
    fn keys_that_others_may_read_are_not_read() {
        let refused = found_with_mode(&[], CONFIG, CREDENTIALS, 0o644).unwrap_err();
        assert!(refused.contains("others may read it") && !refused.contains("geheim"), "{refused}");
    }

    #[test]
    fn variables_come_before_files_and_a_profile_before_the_usual_one() {
        let settings = found(&[], CONFIG, CREDENTIALS).unwrap();
        assert_eq!((settings.region.as_deref(), settings.endpoint.as_deref()), (Some("eu-1"), None));
        assert_eq!(settings.key.unwrap().id, "D");
        let settings = found(&[("AWS_PROFILE", "site")], CONFIG, CREDENTIALS).unwrap();
        let expected = S3Settings {
            endpoint: Some("https://s3.site".to_owned()),
            region: Some("here".to_owned()),
            style: Some(AddressingStyle::Path),
            ca_file: Some("/etc/site.pem".into()),
            key: Some(access_key("A", "geheim=", Some("t"))),
        };
        assert_eq!(settings, expected);
        assert!(!format!("{settings:?}").contains("geheim"));
        let variables = [
            ("AWS_PROFILE", "site"),
            ("AWS_ACCESS_KEY_ID", "V"),
            ("AWS_SECRET_ACCESS_KEY", "W"),
            ("AWS_ENDPOINT_URL", "http://a"),
            ("AWS_ENDPOINT_URL_S3", "http://b"),
            ("AWS_DEFAULT_REGION", "r"),
        ];
        let settings = found(&variables, CONFIG, CREDENTIALS).unwrap();
        assert_eq!(settings.key, Some(access_key("V", "W", None)), "the token is that of another key");
        assert_eq!((settings.endpoint.as_deref(), settings.region.as_deref()), (Some("http://b"), Some("r")));
    }

    #[test]
    fn half_a_key_and_a_profile_that_is_nowhere_are_told() {
        let half = found(&[("AWS_ACCESS_KEY_ID", "V")], CONFIG, CREDENTIALS).unwrap_err();
        assert!(half.contains("AWS_SECRET_ACCESS_KEY is not"), "{half}");
        let nowhere = found(&[("AWS_PROFILE", "nowhere")], CONFIG, CREDENTIALS).unwrap_err();
        assert!(nowhere.contains("\"nowhere\""), "{nowhere}");
        assert_eq!(S3Settings::find(&Variables::default()), Ok(S3Settings::default()));
    }

    proptest! {
        #[test]
        fn no_file_makes_it_panic(text in "(\\[|\\]|=|profile|a| |\\n|#){0,40}") {
            let _ = section(&text, |heading| heading == "a");
        }
    }
}
