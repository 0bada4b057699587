//! The working place: made, looked at and removed outside of any session.

use base64::Engine as _;
use hyper::Method as HttpMethod;
use hyper::header::{HeaderName, HeaderValue};
use iolag_model::{Connections, FailureCode, PlaceMaker, PlaceToken};
use md5::{Digest as _, Md5};
use rusty_s3::Method;

use super::S3Backend;
use super::session::listing;
use crate::http::{Answer, Payload, Speaker, complaint, visit};
use crate::servers::{Claims, Expected, MarkedPlace, dataset_name, key_of, wait_for};
use crate::{BackendError, Greeting, Inventory, Leftover, ObjectKey, token_name};

/// The beginning of a marker's name.
const MARKER: &str = ".iolag-";

impl S3Backend {
    /// Whether there is a working place.
    pub(super) async fn find_place(&self) -> Result<(), BackendError> {
        let marker = format!("{}{MARKER}", self.beginning());
        let keys = self.desk()?.page(&marker, "").await?.0;
        if keys.is_empty() { Err(BackendError::NoWorkingSet { path: self.path() }) } else { Ok(()) }
    }

    /// Asks for the keys of the working place.
    pub(super) async fn greeting(&self) -> Result<Greeting, BackendError> {
        let (mut desk, beginning) = (self.desk()?, self.beginning());
        let answer = desk
            .answer("list", (Method::Get, None), &listing(&beginning, ""), (&[], Payload::default()))
            .await?
            .0;
        Ok(Greeting { settings: self.access()?.settings.clone(), ..desk.speaker.greeting(&answer) })
    }

    fn path(&self) -> String {
        format!("s3://{}/{}", self.url.bucket, self.beginning().trim_end_matches('/'))
    }

    fn desk(&self) -> Result<Desk<'_>, BackendError> {
        Ok(Desk { backend: self, speaker: self.access()?.speaker(Connections::Reused) })
    }

    pub(super) async fn count(&self, rank: u32, dataset: u32) -> Result<Inventory, BackendError> {
        let name = dataset_name(ObjectKey { rank, dataset, index: 0 });
        let (mut desk, mut inventory, mut next) = (self.desk()?, Inventory::default(), String::new());
        let beginning = self.beginning();
        loop {
            let (keys, more) = desk.page(&format!("{beginning}{name}/"), &next).await?;
            for key in keys {
                match key_of(&key[beginning.len()..]).is_some() {
                    true => inventory.objects += 1,
                    false => inventory.foreign += 1,
                }
            }
            match more {
                Some(more) => next = more,
                None => return Ok(inventory),
            }
        }
    }

    /// Removes what iolag makes, and aborts what it began; the marker goes last.
    pub(super) async fn remove(&self, token: PlaceToken) -> Result<Vec<Leftover>, BackendError> {
        let (mut desk, mut left, beginning) = (self.desk()?, Vec::new(), self.beginning());
        let marker = format!("{beginning}{}", token_name(token));
        let (mut next, mut foreign) = (String::new(), Vec::new());
        loop {
            let (keys, more) = desk.page(&beginning, &next).await?;
            let others = keys.into_iter().filter(|key| *key != marker);
            let (ours, theirs): (Vec<_>, Vec<_>) =
                others.partition(|key| key_of(&key[beginning.len()..]).is_some());
            left.extend(desk.delete(&ours).await?);
            foreign.extend(theirs);
            match more {
                Some(more) => next = more,
                None => break,
            }
        }
        let reason = || "iolag makes nothing of this name".to_owned();
        left.extend(foreign.into_iter().map(|path| Leftover { path, reason: reason() }));
        left.extend(desk.abort_uploads(&beginning).await?);
        if left.is_empty() {
            left.extend(desk.delete(&[marker]).await?);
        }
        Ok(left)
    }
}

/// Where administration is done.
struct Desk<'a> {
    backend: &'a S3Backend,
    speaker: Speaker,
}

impl Desk<'_> {
    /// Asks for an object, or for the bucket; what is no success is an error.
    async fn ask(
        &mut self,
        action: &'static str,
        (method, object): (Method, Option<&str>),
        query: &[(&str, &str)],
        (headers, payload): (&[(HeaderName, HeaderValue)], Payload),
    ) -> Result<Vec<u8>, BackendError> {
        Ok(self.answer(action, (method, object), query, (headers, payload)).await?.1)
    }

    async fn answer(
        &mut self,
        action: &'static str,
        (method, object): (Method, Option<&str>),
        query: &[(&str, &str)],
        (headers, payload): (&[(HeaderName, HeaderValue)], Payload),
    ) -> Result<(Answer, Vec<u8>), BackendError> {
        let path = self.backend.access()?.signer.sign(method, object, query);
        let method =
            HttpMethod::from_bytes(method.to_str().as_bytes()).expect("a method is a word of capitals");
        let about = object
            .map_or_else(|| self.backend.path(), |key| format!("s3://{}/{key}", self.backend.url.bucket));
        let request = self.speaker.request(method, &path, headers, payload);
        let request = request.ok_or_else(|| self.failed(action, &about, FailureCode::PROTOCOL, None))?;
        match self.speaker.ask(request).await {
            Ok((answer, said)) if answer.is_success() => Ok((answer, said)),
            Ok((answer, said)) => Err(self.refused(action, &about, &answer, &said)),
            Err(code) => {
                let said = self.speaker.connection.take_message().unwrap_or_else(|| code.to_string());
                Err(self.backend.refused(self.backend.with_advice(said, code), code))
            }
        }
    }

    fn failed(&self, action: &str, about: &str, code: FailureCode, said: Option<String>) -> BackendError {
        let said = said.unwrap_or_else(|| code.to_string());
        self.backend.refused(format!("cannot {action} {about}: {said}"), code)
    }

    fn refused(&self, action: &str, about: &str, answer: &Answer, said: &[u8]) -> BackendError {
        let text = complaint(answer, said);
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        let advice = if has(&["NoSuchBucket"]) {
            "; check the bucket's name and the endpoint (AWS_ENDPOINT_URL, or #endpoint=URL)".to_owned()
        } else if let Some(skew) = answer.clock_ahead() {
            format!(
                "; the clock of this host and that of the server are {skew} apart: set it, for signatures hold for some minutes"
            )
        } else if has(&["SignatureDoesNotMatch", "InvalidAccessKeyId", "AccessDenied", "XAdminUserNotFound"])
            || answer.status == 403
        {
            "; check the key (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE), the region, and what the key may do".to_owned()
        } else if has(&["PermanentRedirect", "AuthorizationHeaderMalformed"]) {
            "; check the region (AWS_REGION, or #region=NAME) and the endpoint".to_owned()
        } else {
            String::new()
        };
        let text = if advice.is_empty() { text.as_str() } else { text.trim_end_matches('.') };
        self.failed(action, about, answer.code(), Some(format!("{text}{advice}")))
    }

    /// Keys that begin so, and how to ask for the next ones.
    async fn page(
        &mut self,
        beginning: &str,
        next: &str,
    ) -> Result<(Vec<String>, Option<String>), BackendError> {
        let said = self
            .ask("list", (Method::Get, None), &listing(beginning, next), (&[], Payload::default()))
            .await?;
        let (mut keys, mut more) = (Vec::new(), None);
        let is_whole = visit(&said, |name, text| match name {
            "Key" => keys.push(percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()),
            "NextContinuationToken" => more = Some(text.to_owned()).filter(|text| !text.is_empty()),
            _ => {}
        });
        // A store that has ignored the beginning would have others' objects removed.
        match is_whole && keys.iter().all(|key| key.starts_with(beginning)) {
            true => Ok((keys, more)),
            false => Err(self.failed(
                "list",
                beginning,
                FailureCode::PROTOCOL,
                Some("its answer is no listing of that".to_owned()),
            )),
        }
    }

    /// Deletes up to a thousand keys in one request. What is left, if something is.
    async fn delete(&mut self, keys: &[String]) -> Result<Vec<Leftover>, BackendError> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let objects: String = keys
            .iter()
            .map(|key| format!("<Object><Key>{}</Key></Object>", quick_xml::escape::escape(key)))
            .collect();
        let body = format!(
            "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Quiet>true</Quiet>{objects}</Delete>"
        );
        let sum = base64::engine::general_purpose::STANDARD.encode(Md5::digest(body.as_bytes()));
        let sum = HeaderValue::from_str(&sum).expect("letters and digits");
        let headers = [(HeaderName::from_static("content-md5"), sum)];
        let said = self
            .ask(
                "remove objects of",
                (Method::Post, None),
                &[("delete", "")],
                (&headers, bytes::Bytes::from(body).into()),
            )
            .await?;
        let (mut left, mut key, mut code) = (Vec::new(), String::new(), String::new());
        let is_whole = visit(&said, |name, text| match name {
            "Key" => text.clone_into(&mut key),
            "Code" => text.clone_into(&mut code),
            "Error" => {
                left.push(Leftover { path: std::mem::take(&mut key), reason: std::mem::take(&mut code) })
            }
            _ => {}
        });
        match is_whole {
            true => Ok(left),
            false => Err(self.failed("remove objects of", &self.backend.path(), FailureCode::PROTOCOL, None)),
        }
    }

    /// Uploads that were begun and not ended.
    async fn abort_uploads(&mut self, beginning: &str) -> Result<Vec<Leftover>, BackendError> {
        let query = [("prefix", beginning), ("uploads", "")];
        // A store without them has none to abort.
        let said =
            match self.ask("list uploads of", (Method::Get, None), &query, (&[], Payload::default())).await {
                Ok(said) => said,
                Err(BackendError::Server { code, .. }) if is_unknown(code) => return Ok(Vec::new()),
                Err(error) => return Err(error),
            };
        let (mut uploads, mut key, mut id) = (Vec::new(), String::new(), String::new());
        visit(&said, |name, text| match name {
            "Key" => text.clone_into(&mut key),
            "UploadId" => text.clone_into(&mut id),
            "Upload" => uploads.push((std::mem::take(&mut key), std::mem::take(&mut id))),
            _ => {}
        });
        let mut left = Vec::new();
        for (key, id) in uploads.into_iter().filter(|(key, _)| key.starts_with(beginning)) {
            let aborted = self
                .ask(
                    "abort the upload of",
                    (Method::Delete, Some(&key)),
                    &[("uploadId", &id)],
                    (&[], Payload::default()),
                )
                .await;
            if let Err(error) = aborted {
                left.push(Leftover {
                    path: format!("the unfinished upload {id} of {key}"),
                    reason: error.to_string(),
                });
            }
        }
        Ok(left)
    }
}

const fn is_unknown(code: FailureCode) -> bool {
    code.0 == FailureCode::http(501).0 || code.0 == FailureCode::http(405).0
}

impl MarkedPlace for S3Backend {
    fn target(&self) -> String {
        self.shown()
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn expected(&self) -> &Expected {
        &self.expected
    }

    fn look(&self) -> Result<Claims, BackendError> {
        wait_for(async {
            let (mut desk, mut claims, beginning) = (self.desk()?, Claims::default(), self.beginning());
            // Markers come before everything that begins with a digit.
            for key in desk.page(&beginning, "").await?.0 {
                match key[beginning.len()..].strip_prefix(MARKER).map(str::parse) {
                    Some(Ok(token)) => {
                        let said = desk
                            .ask("read", (Method::Get, Some(&key)), &[], (&[], Payload::default()))
                            .await?;
                        claims
                            .claims
                            .push((token, std::str::from_utf8(&said).ok().and_then(|run| run.parse().ok())));
                    }
                    _ => claims.has_more = true,
                }
            }
            Ok(claims)
        })
    }

    fn unmark(&self, token: PlaceToken) -> Result<(), BackendError> {
        let key = format!("{}{}", self.beginning(), token_name(token));
        wait_for(async { self.desk()?.delete(&[key]).await.map(drop) })
    }

    fn mark(&self, maker: &PlaceMaker) -> Result<(), BackendError> {
        let key = format!("{}{}", self.beginning(), token_name(maker.token));
        let run = bytes::Bytes::from(maker.run.to_string());
        wait_for(async {
            self.desk()?.ask("write", (Method::Put, Some(&key)), &[], (&[], run.into())).await.map(drop)
        })
    }
}
