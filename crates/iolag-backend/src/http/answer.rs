//! What a web server answered.

use std::time::{Duration, SystemTime};

use hyper::HeaderMap;
use hyper::http::response::Parts;
use iolag_model::{FailureCode, Nanoseconds};

/// An answer, without what was in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The status.
    pub status: u16,
    /// How long the object is, as the server says.
    pub length: Option<u64>,
    /// How much came.
    pub bytes: u64,
    /// What a server asks to wait before the next request, as it says it.
    pub retry_after: Option<String>,
    /// Where it says that the object is.
    pub location: Option<String>,
    /// By what the server knows this state of the object.
    pub entity_tag: Option<String>,
    /// How far the clocks of this host and of the server are apart, as far as seconds can tell.
    pub clocks_apart: Option<Duration>,
    /// Its software, as it calls itself.
    pub software: Option<String>,
    /// Whether it says that it speaks WebDAV.
    pub is_webdav: bool,
    /// How long the server says that it worked (`Server-Timing`, W3C), all its parts together.
    pub server_time: Option<Nanoseconds>,
}

impl Answer {
    pub(super) fn of(head: &Parts) -> Self {
        let text = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok());
        Self {
            status: head.status.as_u16(),
            length: text("content-length").and_then(|value| value.parse().ok()),
            bytes: 0,
            retry_after: text("retry-after").map(str::to_owned),
            location: text("location").map(str::to_owned),
            entity_tag: text("etag").map(str::to_owned),
            clocks_apart: text("date").and_then(clocks_apart),
            software: text("server").map(str::to_owned),
            is_webdav: head.headers.contains_key("dav"),
            server_time: server_time(&head.headers),
        }
    }

    /// Whether it is a success.
    pub(crate) const fn is_success(&self) -> bool {
        matches!(self.status, 200..=299)
    }

    #[cfg(feature = "s3")]
    /// How far the clocks are apart, if that is more than signatures are let to differ.
    pub(crate) fn clock_ahead(&self) -> Option<Nanoseconds> {
        const ALLOWED: Duration = Duration::from_secs(300);
        self.clocks_apart
            .filter(|apart| *apart > ALLOWED)
            .map(|apart| Nanoseconds::from_seconds(apart.as_secs()))
    }

    /// The code of what is none.
    pub(crate) const fn code(&self) -> FailureCode {
        FailureCode::http(self.status)
    }
}

fn clocks_apart(date: &str) -> Option<Duration> {
    let (theirs, ours) = (httpdate::parse_http_date(date).ok()?, SystemTime::now());
    ours.duration_since(theirs).or_else(|_| theirs.duration_since(ours)).ok()
}

/// The longest of the parts: servers tell the whole as one of them, and nested parts are not to be counted twice.
fn server_time(headers: &HeaderMap) -> Option<Nanoseconds> {
    let values = headers.get_all("server-timing").into_iter().filter_map(|value| value.to_str().ok());
    let parts = values.flat_map(|value| value.split(','));
    let durations = parts.filter_map(|part| {
        let told = part.split(';').find_map(|word| word.trim().strip_prefix("dur="))?;
        told.trim_matches('"').parse::<f64>().ok().filter(|milliseconds| (0.0..1e9).contains(milliseconds))
    });
    durations.reduce(f64::max).map(|milliseconds| Nanoseconds((milliseconds * 1e6) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_part_is_the_servers_time() {
        let of = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append("server-timing", hyper::header::HeaderValue::from_static(value));
            }
            server_time(&headers)
        };
        assert_eq!(of(&["db;dur=53, app;desc=\"a\";dur=47.2"]), Some(Nanoseconds::from_milliseconds(53)));
        assert_eq!(of(&["miss", "total;dur=\"1.5\""]), Some(Nanoseconds(1_500_000)));
        assert_eq!(of(&["cache;dur=-1", "x;dur=NaN"]), None);
        assert_eq!(of(&[]), None);
    }
}
