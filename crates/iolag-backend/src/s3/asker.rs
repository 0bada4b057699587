//! Who asks a bucket, and keeps what came.

use hyper::Request as HttpRequest;
use iolag_model::FailureCode;

use super::signing::Signer;
use crate::http::{Answer, Payload, Speaker, complaint, keep};

/// A connection, and what signs the requests on it.
pub(super) struct Asker {
    pub(super) speaker: Speaker,
    pub(super) signer: Signer,
    /// What came instead of a success.
    pub(super) kept: Vec<u8>,
}

impl Asker {
    pub(super) const fn new(speaker: Speaker, signer: Signer) -> Self {
        Self { speaker, signer, kept: Vec::new() }
    }

    /// Asks, and returns what came with a success.
    pub(super) async fn ask(&mut self, asked: HttpRequest<Payload>) -> Result<Vec<u8>, FailureCode> {
        self.ask_and_keep(asked).await?;
        Ok(std::mem::take(&mut self.kept))
    }

    /// Sends a part, and returns by what the store knows it.
    pub(super) async fn ask_for_tag(&mut self, asked: HttpRequest<Payload>) -> Result<String, FailureCode> {
        let answer = self.ask_and_keep(asked).await?;
        answer.entity_tag().map(str::to_owned).ok_or(FailureCode::PROTOCOL)
    }

    async fn ask_and_keep(&mut self, asked: HttpRequest<Payload>) -> Result<Answer, FailureCode> {
        let mut said = Vec::new();
        let sink = &mut |answer: &Answer, bytes: &[u8]| keep(&mut said, answer, bytes);
        let answer = self.speaker.connection.ask(asked, sink).await?;
        self.kept = said;
        self.judge(&answer)?;
        Ok(answer)
    }

    /// Notes what is to be said of an answer that is no success.
    pub(super) fn judge(&mut self, answer: &Answer) -> Result<(), FailureCode> {
        if answer.is_success() {
            return Ok(());
        }
        self.speaker.connection.say(complaint(answer, &self.kept));
        Err(answer.code())
    }
}
