//! Requests to a bucket as URLs that are signed: everything that proves who we are stands in the query (AWS Signature Version 4, presigned).
//!
//! Limit: what is sent is not part of the signature, as with every presigned URL; TLS protects it.

use iolag_net::AccessKey;
use jiff::Timestamp;
use rusty_s3::{Bucket, Method, signing};

/// A signed request is sent at once; a server that is slow to look at it has this long.
const VALID_SECONDS: u64 = 900;

/// A bucket, and who asks it.
#[derive(Debug, Clone)]
pub(super) struct Signer {
    bucket: Bucket,
    key: Option<AccessKey>,
}

impl Signer {
    pub(super) const fn new(bucket: Bucket, key: Option<AccessKey>) -> Self {
        Self { bucket, key }
    }

    /// Path and query of a request for an object, or for the bucket. The parameters are sorted by name.
    pub(super) fn sign(&self, method: Method, object: Option<&str>, query: &[(&str, &str)]) -> String {
        let mut url = match object {
            Some(object) => self.bucket.object_url(object),
            None => self.bucket.base_url().clone(),
        };
        match &self.key {
            Some(key) => {
                let token = key.token.as_ref().map(|token| token.reveal());
                url = signing::sign(
                    &Timestamp::now(),
                    method,
                    url,
                    &key.id,
                    key.secret.reveal(),
                    token,
                    self.bucket.region(),
                    VALID_SECONDS,
                    query.iter().copied(),
                    std::iter::empty(),
                );
            }
            None if query.is_empty() => {}
            None => drop(url.query_pairs_mut().extend_pairs(query)),
        }
        url[url::Position::BeforePath..].to_owned()
    }
}
