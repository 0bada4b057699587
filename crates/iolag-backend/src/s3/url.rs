//! What the URL of a bucket says.

use std::fmt;
use std::path::PathBuf;

use iolag_net::{AccessKey, AddressingStyle, Secret};

use crate::servers::{decoded, settings_of};

const SETTINGS: &[&str] = &["endpoint", "region", "style", "ca-file"];

/// A place in a bucket: `s3://BUCKET/PREFIX`, with settings for iolag after a `#`: `endpoint=URL,region=NAME,style=path`.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct S3Url {
    /// As it was written.
    text: String,
    pub(crate) bucket: String,
    /// Without a slash at either end.
    pub(crate) prefix: String,
    pub(crate) key: Option<AccessKey>,
    pub(crate) endpoint: Option<String>,
    pub(crate) region: Option<String>,
    pub(crate) style: Option<AddressingStyle>,
    pub(crate) ca_file: Option<PathBuf>,
}

impl S3Url {
    /// Understands the whole text.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let expected = || "expected s3://BUCKET/PREFIX".to_owned();
        let (place, fragment) = text.split_once('#').unwrap_or((text, ""));
        let after = place.strip_prefix("s3://").ok_or_else(expected)?;
        if after.contains('?') {
            return Err(
                "what is for iolag stands after a #, as in s3://BUCKET/PREFIX#endpoint=http://HOST:PORT"
                    .to_owned(),
            );
        }
        let (authority, prefix) = after.split_once('/').unwrap_or((after, ""));
        let (user, bucket) = match authority.rsplit_once('@') {
            Some((user, bucket)) => (Some(user), bucket),
            None => (None, authority),
        };
        if prefix.contains('@') {
            return Err("an @ in it belongs neither to the key nor to the bucket; write / and @ of a key as %2F and %40".to_owned());
        }
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
        if bucket.contains(':') {
            return Err("the server is no part of it: write s3://BUCKET/PREFIX#endpoint=http://HOST:PORT, or set AWS_ENDPOINT_URL".to_owned());
        }
        if !bucket.bytes().all(is_name) || bucket.is_empty() {
            return Err(expected());
        }
        let mut url = Self {
            text: text.to_owned(),
            bucket: bucket.to_owned(),
            prefix: decoded(prefix.trim_matches('/')),
            key: user.map(access_key).transpose()?.flatten(),
            endpoint: None,
            region: None,
            style: None,
            ca_file: None,
        };
        for (name, value) in settings_of(fragment, SETTINGS)? {
            match name.as_str() {
                "endpoint" if value.contains('@') => {
                    return Err("an endpoint has no user: the key stands in front of the bucket, as in s3://KEY:SECRET@BUCKET#endpoint=http://HOST:PORT"
                        .to_owned());
                }
                "endpoint" => url.endpoint = Some(value),
                "region" => url.region = Some(value),
                "style" => url.style = Some(style(&value)?),
                _ => url.ca_file = Some(value.into()),
            }
        }
        Ok(url)
    }

    /// As it was written, with every secret.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

/// None is the one of a text whose secret was taken out.
fn access_key(user: &str) -> Result<Option<AccessKey>, String> {
    let (id, secret) =
        user.split_once(':').ok_or("expected s3://KEY:SECRET@BUCKET/PREFIX, or neither of them")?;
    let (id, secret) = (decoded(id), decoded(secret));
    Ok((secret != crate::HIDDEN).then(|| AccessKey { id, secret: Secret::from(secret), token: None }))
}

fn style(name: &str) -> Result<AddressingStyle, String> {
    match name {
        "path" => Ok(AddressingStyle::Path),
        "host" => Ok(AddressingStyle::Virtual),
        _ => Err(format!("style is path or host, not {name:?}")),
    }
}

/// Without secrets.
impl fmt::Debug for S3Url {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("S3Url").field(&crate::redact(&self.text)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bucket_prefix_key_and_settings_are_told_apart() {
        let url = S3Url::parse(
            "s3://K:a%2Fb@bucket/some/where/#endpoint=http://127.0.0.1:7070,style=path,region=here",
        )
        .unwrap();
        assert_eq!((url.bucket.as_str(), url.prefix.as_str()), ("bucket", "some/where"));
        assert_eq!(url.key.as_ref().map(|key| key.secret.reveal()), Some("a/b"));
        assert_eq!(
            (url.endpoint.as_deref(), url.style),
            (Some("http://127.0.0.1:7070"), Some(AddressingStyle::Path))
        );
        assert_eq!(url.region.as_deref(), Some("here"));
        assert!(!format!("{url:?}").contains("a%2Fb"), "{url:?}");
        assert_eq!(S3Url::parse("s3://K:***@bucket").unwrap().key, None, "its secret was taken out");
    }

    #[test]
    fn what_cannot_be_is_refused_with_what_can() {
        for (text, why) in [
            ("s3://", "expected s3://BUCKET/PREFIX"),
            ("s3:bucket", "expected s3://BUCKET/PREFIX"),
            ("s3://host:9000/bucket", "AWS_ENDPOINT_URL"),
            ("s3://bucket?endpoint=x", "after a #"),
            ("s3://K@bucket", "KEY:SECRET"),
            ("s3://K:a/b@bucket", "%2F"),
            ("s3://bucket#style=virtual", "path or host"),
            ("s3://bucket#regoin=x", "\"regoin=x\""),
        ] {
            let error = S3Url::parse(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "s3://[a-z:@/#=,%0-9]{0,30}") {
            let _ = S3Url::parse(&text);
        }
    }
}
