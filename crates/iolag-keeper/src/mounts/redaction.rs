//! Secrets are taken out of mount sources and options before anybody else sees them.
//!
//! Removed are: the value of an option whose name says that it is a secret; the password in `user:password@host`; what
//! follows `%` in a user name (`user=me%password`, as CIFS takes it); secrets in the query of a URL. Kept are names of
//! users and of files that hold secrets (`passwd_file=`, `secretfile=`, `credentials=`): they tell configurations apart.
//!
//! Limit: options are separated by commas, so of a secret with an unescaped comma only the first piece is known to be
//! secret. The kernel escapes commas, and its own file systems print no secret at all; this is the second line.

use super::escapes::unescape;

/// What stands where a secret stood.
const REDACTED: &str = "***";

/// Comma-separated mount options with secrets replaced by `***`; everything else is left byte for byte as it was.
///
/// `rw,name=admin,secret=AQBx==,addr=10.0.0.1` becomes `rw,name=admin,secret=***,addr=10.0.0.1`.
pub fn redact_options(options: &str) -> String {
    options.split(',').map(redact_option).collect::<Vec<_>>().join(",")
}

/// A mount source with the password of `user:password@host` and of a URL's query replaced by `***`.
///
/// `//me:pw@server/share` becomes `//me:***@server/share`; `me@host:/dir`, `10.0.0.1:6789:/volume@1` and Lustre's
/// `10.0.0.1@o2ib:10.0.0.2@o2ib:/scratch` stay as they are.
pub fn redact_source(source: &str) -> String {
    let (address, query) = match source.split_once('?') {
        Some((address, query)) => (address, Some(query)),
        None => (source, None),
    };
    let mut redacted = redact_address(address);
    if let Some(query) = query {
        let fields: Vec<String> = query.split('&').map(redact_field).collect();
        redacted.push('?');
        redacted.push_str(&fields.join("&"));
    }
    redacted
}

fn redact_option(option: &str) -> String {
    let Some((name, value)) = option.split_once('=') else {
        return option.to_owned();
    };
    match classify(name) {
        Meaning::Secret => format!("{name}={REDACTED}"),
        Meaning::User => match value.split_once('%') {
            Some((user, _)) => format!("{name}={user}%{REDACTED}"),
            None => option.to_owned(),
        },
        Meaning::Other if value.contains("://") => format!("{name}={}", redact_source(value)),
        Meaning::Other => option.to_owned(),
    }
}

fn redact_field(field: &str) -> String {
    match field.split_once('=') {
        Some((name, _)) if classify(name) == Meaning::Secret => format!("{name}={REDACTED}"),
        _ => field.to_owned(),
    }
}

/// What an option's name says of its value.
#[derive(Debug, PartialEq, Eq)]
enum Meaning {
    Secret,
    User,
    Other,
}

fn classify(name: &str) -> Meaning {
    // The kernel may write any character of a name as \ooo, and some programs accept capitals.
    let plain = String::from_utf8_lossy(&unescape(name.as_bytes())).to_ascii_lowercase();
    let names_a_file = ["file", "path", "dir"].iter().any(|ending| plain.ends_with(ending));
    let is_secret = ["password", "passwd", "passphrase", "secret", "token", "signature", "credential"]
        .iter()
        .any(|word| plain.contains(word));
    let is_short_secret = matches!(plain.as_str(), "pass" | "pass2" | "pw" | "pwd" | "sig" | "key")
        || ["_pass", "-pass", "_key", "-key", "accesskey", "apikey"]
            .iter()
            .any(|ending| plain.ends_with(ending));
    match plain.as_str() {
        "user" | "username" => Meaning::User,
        "credentials" | "cred" => Meaning::Other,
        _ if (is_secret && !names_a_file) || is_short_secret => Meaning::Secret,
        _ => Meaning::Other,
    }
}

/// Redacts `scheme://user:password@host/…`, `//user:password@host/…` and `user:password@host…`.
fn redact_address(address: &str) -> String {
    let start = address.find("://").map(|at| at + 3).or_else(|| address.starts_with("//").then_some(2));
    let form = if start.is_some() { Form::Url } else { Form::Bare };
    let (head, rest) = address.split_at(start.unwrap_or(0));
    match password_in(rest, form) {
        Some((from, to)) => format!("{head}{}{REDACTED}{}", &rest[..from], &rest[to..]),
        None => address.to_owned(),
    }
}

/// How an address begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// With `scheme://` or `//`: what precedes an `@` is a user.
    Url,
    /// With neither: an `@` may mean many things.
    Bare,
}

/// Where the password lies in `user:password@host…`: bytes from..to.
fn password_in(rest: &str, form: Form) -> Option<(usize, usize)> {
    let authority = &rest[..rest.find('/').unwrap_or(rest.len())];
    let at = match authority.rfind('@') {
        Some(at) => at,
        // A password may wrongly contain a slash; then the last @ of all ends it.
        None if form == Form::Url => rest.rfind('@')?,
        None => return None,
    };
    let colon = rest[..at].find(':')?;
    let (user, password) = (&rest[..colon], &rest[colon + 1..at]);
    // `10.0.0.1@o2ib:10.0.0.2@o2ib:` are two network ids of Lustre, and `host:8443/path@1` is a port and a path.
    let is_network_id = user.contains('@');
    let is_port =
        password.split_once('/').is_some_and(|(port, _)| port.bytes().all(|byte| byte.is_ascii_digit()));
    (!is_network_id && !is_port && !user.contains('/')).then_some((colon + 1, at))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn secrets_in_options_are_removed_and_the_rest_is_kept() {
        for (options, expected) in [
            ("rw,name=admin,secret=AQBxyz==,addr=10.0.0.1", "rw,name=admin,secret=***,addr=10.0.0.1"),
            ("rw,username=me,password=p=w,domain=D", "rw,username=me,password=***,domain=D"),
            ("user=me%pw,pass=x,password2=y", "user=me%***,pass=***,password2=***"),
            ("rw,passwd_file=/root/.s3,url=https://s3", "rw,passwd_file=/root/.s3,url=https://s3"),
            (
                "secretfile=/etc/ceph/s,credentials=/root/.smb",
                "secretfile=/etc/ceph/s,credentials=/root/.smb",
            ),
            ("url=https://me:pw@s3/b?x=1,PASSWORD=Q", "url=https://me:***@s3/b?x=1,PASSWORD=***"),
            ("pass\\167ord=secret", "pass\\167ord=***"),
            (
                "aws_secret_access_key=a,access_key=b,api-key=c,session_token=d",
                "aws_secret_access_key=***,access_key=***,api-key=***,session_token=***",
            ),
        ] {
            assert_eq!(redact_options(options), expected);
        }
    }

    #[test]
    fn ordinary_options_are_left_alone() {
        for options in [
            "",
            "rw",
            "rw,,=,a=",
            "rw,vers=4.2,rsize=1048576,sec=krb5p,clientaddr=10.0.0.7,local_lock=none,addr=10.0.0.1",
            "rw,lowerdir=/a:/b@c,upperdir=/u,workdir=/w,xino=off",
            "rw,fd=29,pgrp=1,timeout=0,minproto=5,maxproto=5,direct,pipe_ino=12345",
            "rw,seclabel,user_xattr,lruresize,nolazystatfs,user_id=0,group_id=0,keyring",
        ] {
            assert_eq!(redact_options(options), options);
        }
    }

    #[test]
    fn passwords_in_sources_are_removed() {
        for (source, expected) in [
            ("//me:pw@server/share", "//me:***@server/share"),
            ("https://me:p@w@dav.example/x", "https://me:***@dav.example/x"),
            ("https://me:p/w@dav.example/x", "https://me:***@dav.example/x"),
            ("me:pw@host:/dir", "me:***@host:/dir"),
            (
                "https://h/x?token=abc&part=1&X-Amz-Signature=f",
                "https://h/x?token=***&part=1&X-Amz-Signature=***",
            ),
        ] {
            assert_eq!(redact_source(source), expected);
        }
    }

    #[test]
    fn ordinary_sources_are_left_alone() {
        for source in [
            "",
            "/dev/sda1",
            "me@host:/dir",
            "10.0.0.1@o2ib:10.0.0.2@o2ib:/scratch",
            "10.0.0.1@tcp,10.1.0.1@o2ib:10.0.0.2@tcp:/fs1/sub@1",
            "10.0.0.1:6789,10.0.0.2:6789:/volume@1",
            "admin@b3acfc0d-0000.cephfs=/a:b",
            "server:/export@snapshot",
            "[fe80::1]:/export",
            "https://host:8443/path@1",
            "//server/share",
            "beegfs_nodev",
            "pool/set@snapshot",
        ] {
            assert_eq!(redact_source(source), source);
        }
    }

    proptest! {
        #[test]
        fn a_named_secret_never_survives(
            before in "[a-z0-9=,/:@%?&]{0,30}", name in "(password|pass|secret|passwd|passphrase|PASSWORD|token)",
            secret in "[a-z0-9/:@%?&=]{0,10}", after in "[a-z0-9=,/:@%?&]{0,30}",
        ) {
            let marked = format!("{before},{name}=Q{secret}Q,{after}");
            let redacted = redact_options(&marked);
            prop_assert!(!redacted.contains('Q'), "{redacted}");
            prop_assert_eq!(redacted.split(',').count(), marked.split(',').count());
        }

        #[test]
        fn a_password_in_a_url_never_survives(
            scheme in "(https?://|//|davs://)", user in "[a-z0-9.]{1,8}", password in "[a-z0-9:@%+=]{0,12}",
            rest in "[a-z0-9.]{1,9}(/[a-z0-9]{0,9}){0,3}",
        ) {
            let redacted = redact_source(&format!("{scheme}{user}:Q{password}Q@{rest}"));
            prop_assert_eq!(redacted, format!("{scheme}{user}:***@{rest}"));
        }

        #[test]
        fn redacting_twice_changes_nothing_more(text in ".{0,80}") {
            let once = redact_options(&text);
            prop_assert_eq!(redact_options(&once), once.clone());
            let source = redact_source(&text);
            prop_assert_eq!(redact_source(&source), source.clone());
        }
    }
}
