//! Requests as a server wants them from us, and their answers.

use hyper::body::Body as _;
use hyper::header::{AUTHORIZATION, CONTENT_LENGTH, HOST, HeaderName, HeaderValue, USER_AGENT};
use hyper::{Method, Request};
use iolag_model::FailureCode;

use super::answer::Answer;
use super::connection::Connection;
use super::payload::Payload;
use crate::Greeting;

/// More of an answer than this is not kept, nor of one that is no success.
const KEPT_BYTES_MAX: usize = 64 << 20;
const COMPLAINT_BYTES_MAX: usize = 4096;

/// One client of a web server.
pub(crate) struct Speaker {
    pub(crate) connection: Connection,
    authority: HeaderValue,
    authorization: Option<HeaderValue>,
}

impl Speaker {
    pub(crate) const fn new(
        connection: Connection,
        authority: HeaderValue,
        authorization: Option<HeaderValue>,
    ) -> Self {
        Self { connection, authority, authorization }
    }

    /// A request for a path, which is encoded, with these headers.
    pub(crate) fn request(
        &self,
        method: Method,
        path: &str,
        headers: &[(HeaderName, HeaderValue)],
        payload: Payload,
    ) -> Option<Request<Payload>> {
        // RFC 9110, 8.6: hyper leaves it out where there is nothing to send, and servers want it.
        let is_told = payload.is_end_stream() && matches!(method, Method::PUT | Method::POST);
        let mut request = Request::builder().method(method).uri(path).body(payload).ok()?;
        let own = request.headers_mut();
        if is_told {
            own.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
        own.insert(HOST, self.authority.clone());
        own.insert(USER_AGENT, HeaderValue::from_static(concat!("iolag/", env!("CARGO_PKG_VERSION"))));
        if let Some(authorization) = &self.authorization {
            own.insert(AUTHORIZATION, authorization.clone());
        }
        own.extend(headers.iter().cloned());
        Some(request)
    }

    /// Asks, and keeps the answer.
    pub(crate) async fn ask(&mut self, request: Request<Payload>) -> Result<(Answer, Vec<u8>), FailureCode> {
        let mut kept = Vec::new();
        self.connection.begin();
        let answer =
            self.connection.ask(request, &mut |answer, bytes| keep(&mut kept, answer, bytes)).await?;
        match answer.bytes > kept.len() as u64 && answer.is_success() {
            true => Err(FailureCode::PROTOCOL),
            false => Ok((answer, kept)),
        }
    }
}

impl Speaker {
    /// What an answer to the first request tells of the server.
    pub(crate) fn greeting(&self, answer: &Answer) -> Greeting {
        Greeting {
            software: answer.software().map(str::to_owned),
            address: self.connection.peer().map(|peer| peer.to_string()),
            protection: self.connection.protection(),
            parts: self.connection.marks().to_vec(),
            settings: Vec::new(),
            remark: None,
        }
    }
}

/// Keeps what can be of use.
pub(crate) fn keep(kept: &mut Vec<u8>, answer: &Answer, bytes: &[u8]) {
    let most = if answer.is_success() { KEPT_BYTES_MAX } else { COMPLAINT_BYTES_MAX };
    let room = most.saturating_sub(kept.len());
    kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
}

/// What is to be said of an answer that is no success.
pub(crate) fn complaint(answer: &Answer, said: &[u8]) -> String {
    let status = hyper::StatusCode::from_u16(answer.status).ok();
    let reason = status.and_then(|status| status.canonical_reason()).unwrap_or("no known status");
    let mut text = format!("{} {reason}", answer.status);
    if let Some(words) = words_of(said) {
        text.push_str(&format!(": {words}"));
    }
    if let Some(wait) = answer.retry_after() {
        text.push_str(&format!("; the server asks to wait {wait}"));
        if wait.bytes().all(|byte| byte.is_ascii_digit()) {
            text.push_str(" s");
        }
    }
    if let Some(location) = answer.location() {
        text.push_str(&format!("; it sends on to {}, which is not followed", crate::redact(location)));
    }
    text
}

/// The code and the message in an answer in XML, as stores give them; of anything else the first line without its tags.
fn words_of(said: &[u8]) -> Option<String> {
    let (mut code, mut message) = (None, None);
    super::xml::visit(said, |name, text| match name {
        "Code" => code = Some(text.to_owned()),
        "Message" | "message" => message = Some(text.to_owned()),
        _ => {}
    });
    match (code, message) {
        (None, None) => None,
        (code, message) => {
            Some(crate::redact(&[code, message].into_iter().flatten().collect::<Vec<_>>().join(": ")))
        }
    }
}
