//! Objects that are sent in parts: begun, sent one part after the other, and made one object at the end.
//!
//! An upload that fails is aborted within the request; one whose request was given up is found and aborted by clean-up.

use bytes::Bytes;
use hyper::Method as HttpMethod;
use iolag_model::FailureCode;
use rusty_s3::Method;

use super::asker::Asker;
use crate::http::{Payload, visit};

/// Longer objects are sent in parts, and so long is a part.
pub(super) const PART_BYTES: u64 = 64 << 20;
pub(super) const BEGIN: &[(&str, &str)] = &[("uploads", "")];

/// Sends an object of so many bytes, made of `body` again and again; `first` is what begins it.
pub(super) async fn upload(
    asker: &mut Asker,
    body: &Bytes,
    (key, bytes): (&str, u64),
    first: hyper::Request<Payload>,
) -> Result<(), FailureCode> {
    let begun = asker.ask(first).await?;
    let id = text_of(&begun, "UploadId").ok_or(FailureCode::PROTOCOL)?;
    let sent = send(asker, body, (key, bytes), &id).await;
    if sent.is_err() {
        // What the failure was has been noted; of an upload that cannot be aborted either clean-up tells.
        let message = asker.speaker.connection.take_message();
        let path = asker.signer.sign(Method::Delete, Some(key), &[("uploadId", &id)]);
        if let Some(asked) = asker.speaker.request(HttpMethod::DELETE, &path, &[], Payload::default()) {
            let _ = asker.ask(asked).await;
        }
        message.into_iter().for_each(|message| asker.speaker.connection.say(message));
    }
    sent
}

async fn send(
    asker: &mut Asker,
    body: &Bytes,
    (key, bytes): (&str, u64),
    id: &str,
) -> Result<(), FailureCode> {
    let mut list = String::from("<CompleteMultipartUpload>");
    for (number, begin) in (1..).zip((0..bytes).step_by(PART_BYTES as usize)) {
        let number: u32 = number;
        let text = number.to_string();
        let path = asker.signer.sign(Method::Put, Some(key), &[("partNumber", &text), ("uploadId", id)]);
        let payload = Payload::new(body.clone(), PART_BYTES.min(bytes - begin));
        let asked =
            asker.speaker.request(HttpMethod::PUT, &path, &[], payload).ok_or(FailureCode::PROTOCOL)?;
        let tag = asker.ask_for_tag(asked).await?;
        list.push_str(&format!("<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag></Part>"));
    }
    list.push_str("</CompleteMultipartUpload>");
    let path = asker.signer.sign(Method::Post, Some(key), &[("uploadId", id)]);
    let payload = Bytes::from(list).into();
    let asked = asker.speaker.request(HttpMethod::POST, &path, &[], payload).ok_or(FailureCode::PROTOCOL)?;
    // The store answers with success before it knows, and tells a failure in what follows.
    let ended = asker.ask(asked).await?;
    match text_of(&ended, "ETag") {
        Some(_) => Ok(()),
        None => Err(FailureCode::http(500)),
    }
}

/// The text of the last element of this name.
fn text_of(document: &[u8], wanted: &str) -> Option<String> {
    let mut found = None;
    visit(document, |name, text| {
        if name == wanted {
            found = Some(text.to_owned());
        }
    });
    found.filter(|text| !text.is_empty())
}
