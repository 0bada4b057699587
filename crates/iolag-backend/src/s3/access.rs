//! How a bucket is reached, and by whom.

use std::sync::Arc;

use hyper::header::HeaderValue;
use iolag_model::Connections;
use iolag_net::{AddressingStyle, Protection, S3Settings, Variables, Way};
use rusty_s3::{Bucket, UrlStyle};
use url::{Host, Url};

use super::S3Url;
use super::signing::Signer;
use crate::http::{Connection, Speaker};

/// Where nobody says otherwise.
const USUAL_REGION: &str = "us-east-1";

/// How a bucket is reached.
#[derive(Debug, Clone)]
pub(super) struct Access {
    way: Way,
    authority: HeaderValue,
    pub(super) signer: Signer,
    /// Whether it is Amazon's own service.
    pub(super) is_usual: bool,
    /// What makes the target the same for whoever has other variables and files.
    pub(super) settings: Vec<(&'static str, String)>,
}

impl Access {
    /// By what the URL says, then by variables and files; or why not, in a sentence.
    pub(super) fn find(url: &S3Url, variables: &Variables) -> Result<Self, String> {
        let found = S3Settings::find(variables)?;
        let region = url.region.clone().or(found.region).unwrap_or_else(|| USUAL_REGION.to_owned());
        let endpoint = url.endpoint.clone().or(found.endpoint);
        let style = url.style.or(found.style).unwrap_or(match endpoint {
            // Where a name has an address only for the service itself, a bucket in front of it has none.
            Some(_) => AddressingStyle::Path,
            None => AddressingStyle::Virtual,
        });
        let is_usual = endpoint.is_none();
        let text = endpoint.unwrap_or_else(|| format!("https://s3.{region}.amazonaws.com"));
        let endpoint = Url::parse(&text)
            .map_err(|error| format!("the endpoint {} is no URL: {error}", crate::redact(&text)))?;
        let written = if style == AddressingStyle::Path { "path" } else { "host" };
        let mut settings =
            vec![("endpoint", text.clone()), ("region", region.clone()), ("style", written.to_owned())];
        let ca_file = url.ca_file.clone().or(found.ca_file).filter(|_| endpoint.scheme() != "http");
        settings.extend(ca_file.as_ref().map(|file| ("ca-file", file.display().to_string())));
        let style = match style {
            AddressingStyle::Path => UrlStyle::Path,
            AddressingStyle::Virtual => UrlStyle::VirtualHost,
        };
        let bucket = Bucket::new(endpoint, style, url.bucket.clone(), region).map_err(|error| {
            format!(
                "the bucket {:?} cannot stand in a URL of {}: {error}; style=path may help",
                url.bucket,
                crate::redact(&text)
            )
        })?;
        let base = bucket.base_url();
        let host = match base.host() {
            Some(Host::Ipv6(address)) => address.to_string(),
            Some(host) => host.to_string(),
            None => return Err(format!("the endpoint {} names no host", crate::redact(&text))),
        };
        let port = base.port_or_known_default().unwrap_or(443);
        let way = match base.scheme() {
            "http" => Way::plain(&host, port),
            _ => {
                let config = Protection::Full(ca_file).client_config("--ca-file FILE")?;
                Way::protected(&host, port, Arc::new(config))?
            }
        };
        // As it is signed: without the port that the scheme has anyway.
        let written = base.host_str().unwrap_or_default();
        let authority = base.port().map_or_else(|| written.to_owned(), |port| format!("{written}:{port}"));
        let authority =
            HeaderValue::from_str(&authority).map_err(|_| "its name cannot be sent".to_owned())?;
        let key = url.key.clone().or(found.key);
        Ok(Self { way, authority, signer: Signer::new(bucket, key), is_usual, settings })
    }

    pub(super) fn speaker(&self, connections: Connections) -> Speaker {
        Speaker::new(Connection::new(self.way.clone(), connections), self.authority.clone(), None)
    }
}
