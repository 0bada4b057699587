//! The working collection: made, looked at and removed outside of any session.

use hyper::{Method, StatusCode};
use iolag_model::{Connections, FailureCode, PlaceMaker, PlaceToken, RunId};

use super::listing::{self, Member};
use super::speaker::{Speaker, complaint};
use super::{Access, Answer, Payload, Speech, WebBackend};
use crate::servers::{Claims, Expected, MarkedPlace, dataset_name, encoded, key_of, wait_for};
use crate::{BackendError, Greeting, Inventory, Leftover, ObjectKey, token_name};

impl WebBackend {
    pub(super) fn refuse_plain(&self) -> Result<(), BackendError> {
        if self.url.speech == Speech::WebDav {
            return Ok(());
        }
        let said = "a web server lists nothing, so that what is made there could not be found again; if it speaks WebDAV, write dav:// \
                    or davs://";
        Err(self.refused(said.to_owned(), FailureCode::from_errno(libc::EOPNOTSUPP)))
    }

    /// The path of the working collection of this token.
    pub(super) fn place_path(&self, token: PlaceToken) -> String {
        format!("{}/{}-{token}", self.url.path, encoded(&self.name))
    }

    /// The only working collection there is.
    pub(super) async fn find_place(&self) -> Result<String, BackendError> {
        self.refuse_plain()?;
        let mut desk = self.desk()?;
        match desk.claims().await?.first() {
            Some(token) => Ok(self.place_path(*token)),
            None => Err(BackendError::NoWorkingSet { path: format!("{}/{}", self.shown(), self.name) }),
        }
    }

    fn desk(&self) -> Result<Desk<'_>, BackendError> {
        Ok(Desk { backend: self, speaker: self.speaker(Connections::Reused)? })
    }

    /// Asks what is there: for what the server can do, or for the head of an object.
    pub(super) async fn greeting(&self) -> Result<Greeting, BackendError> {
        let mut desk = self.desk()?;
        let (method, path) = match self.url.speech {
            Speech::WebDav => ("OPTIONS", format!("{}/", self.url.path)),
            Speech::Plain => ("HEAD", self.object_path()),
        };
        let answered = desk.ask("greet", method, &path, Default::default()).await?;
        // A plain server need not have anything there: it has answered.
        let is_refusal = matches!(answered.0.status, 401 | 403 | 407)
            || self.url.speech == Speech::WebDav && !answered.0.is_success();
        if is_refusal {
            return Err(desk.refused("use", &path, &answered));
        }
        if self.url.speech == Speech::WebDav && !answered.0.is_webdav() {
            let said = "the server does not say that it speaks WebDAV there: check the path, or write http:// to read objects only";
            return Err(self.refused(said.to_owned(), FailureCode::from_errno(libc::EOPNOTSUPP)));
        }
        Ok(desk.speaker.greeting(&answered.0))
    }

    pub(super) async fn count(&self, rank: u32, dataset: u32) -> Result<Inventory, BackendError> {
        let place = match self.expected.get() {
            Some(token) => self.place_path(token),
            None => self.find_place().await?,
        };
        let name = dataset_name(ObjectKey { rank, dataset, index: 0 });
        let mut inventory = Inventory::default();
        for member in self.desk()?.members(&format!("{place}/{name}")).await? {
            match is_object(&name, &member) {
                true => inventory.objects += 1,
                false => inventory.foreign += 1,
            }
        }
        Ok(inventory)
    }

    /// Removes what iolag makes; the marker goes last, with the collection.
    pub(super) async fn remove(&self, token: PlaceToken) -> Result<Vec<Leftover>, BackendError> {
        let (mut desk, place, mut left) = (self.desk()?, self.place_path(token), Vec::new());
        let marker = token_name(token);
        for member in desk.members(&place).await?.iter().filter(|member| member.name != marker) {
            let path = format!("{place}/{}", encoded(&member.name));
            if !member.is_collection || !is_dataset(&member.name) {
                left.push(foreign(&path));
                continue;
            }
            let before = left.len();
            for object in desk.members(&path).await? {
                let inner = format!("{path}/{}", encoded(&object.name));
                match is_object(&member.name, &object) {
                    true => left.extend(desk.delete(&inner).await?),
                    false => left.push(foreign(&inner)),
                }
            }
            if left.len() == before {
                left.extend(desk.delete(&format!("{path}/")).await?);
            }
        }
        if left.is_empty() {
            left.extend(desk.delete(&format!("{place}/")).await?);
        }
        Ok(left)
    }
}

fn is_object(dataset: &str, member: &Member) -> bool {
    !member.is_collection && key_of(&format!("{dataset}/{}", member.name)).is_some()
}

fn is_dataset(name: &str) -> bool {
    key_of(&format!("{name}/file-0")).is_some()
}

fn foreign(path: &str) -> Leftover {
    Leftover { path: path.to_owned(), reason: "iolag makes nothing of this name".to_owned() }
}

/// Where administration is done.
struct Desk<'a> {
    backend: &'a WebBackend,
    speaker: Speaker,
}

impl Desk<'_> {
    async fn ask(
        &mut self,
        action: &'static str,
        method: &'static str,
        path: &str,
        (headers, payload): (Vec<(hyper::header::HeaderName, hyper::header::HeaderValue)>, Payload),
    ) -> Result<(Answer, Vec<u8>), BackendError> {
        let method = Method::from_bytes(method.as_bytes()).expect("a method is a word of capitals");
        let request = self.speaker.request(method, path, &headers, payload);
        let request = request.ok_or_else(|| self.failed(action, path, FailureCode::PROTOCOL, None))?;
        match self.speaker.ask(request).await {
            Ok(answered) => Ok(answered),
            Err(code) => {
                let said = self.speaker.connection.take_message().unwrap_or_else(|| code.to_string());
                Err(self.backend.refused(said, code))
            }
        }
    }

    fn failed(&self, action: &str, path: &str, code: FailureCode, said: Option<String>) -> BackendError {
        let said = said.unwrap_or_else(|| code.to_string());
        self.backend.refused(format!("cannot {action} {path}: {said}"), code)
    }

    fn refused(&self, action: &str, path: &str, (answer, said): &(Answer, Vec<u8>)) -> BackendError {
        let advice = match answer.status {
            401 | 403 => "; check user and password (in the URL, or in ~/.netrc), and what the user may do",
            404 => "; check the path of the URL, which must be there",
            405 | 501 => "; the server does not speak WebDAV there",
            507 => "; the server is full",
            _ => "",
        };
        let unread = match (answer.status, self.backend.access()) {
            (401 | 403, Ok(Access { unread: Some(why), .. })) => format!("; {why}"),
            _ => String::new(),
        };
        self.failed(action, path, answer.code(), Some(complaint(answer, said) + advice + &unread))
    }

    /// Members of a collection; what is not there is an error of class not found.
    async fn members(&mut self, path: &str) -> Result<Vec<Member>, BackendError> {
        let path = format!("{}/", path.trim_end_matches('/'));
        let answered = self.ask("list", "PROPFIND", &path, listing::asked()).await?;
        if answered.0.status == StatusCode::NOT_FOUND.as_u16() {
            let (class, code) = (answered.0.code().class(), answered.0.code());
            return Err(BackendError::Failed { action: "list", path, class, code });
        }
        if !answered.0.is_success() {
            return Err(self.refused("list", &path, &answered));
        }
        listing::members(&answered.1, &path).ok_or_else(|| {
            self.failed("list", &path, FailureCode::PROTOCOL, Some("its answer is no listing".to_owned()))
        })
    }

    /// The tokens of working collections.
    async fn claims(&mut self) -> Result<Vec<PlaceToken>, BackendError> {
        let path = self.backend.url.path.clone();
        let begin = format!("{}-", self.backend.name);
        let token = |member: Member| member.name.strip_prefix(&begin)?.parse().ok();
        Ok(self.members(&path).await?.into_iter().filter_map(token).collect())
    }

    async fn run_of(&mut self, token: PlaceToken) -> Result<Option<RunId>, BackendError> {
        let path = format!("{}/{}", self.backend.place_path(token), token_name(token));
        let (answer, said) = self.ask("read", "GET", &path, Default::default()).await?;
        Ok(std::str::from_utf8(&said).ok().filter(|_| answer.is_success()).and_then(|run| run.parse().ok()))
    }

    /// What is left, if it is.
    async fn delete(&mut self, path: &str) -> Result<Option<Leftover>, BackendError> {
        let answered = self.ask("remove", "DELETE", path, Default::default()).await?;
        let is_gone = answered.0.is_success() || answered.0.status == 404;
        let reason = || complaint(&answered.0, &answered.1);
        Ok((!is_gone).then(|| Leftover { path: path.to_owned(), reason: reason() }))
    }

    async fn make(&mut self, maker: &PlaceMaker) -> Result<(), BackendError> {
        let place = self.backend.place_path(maker.token);
        let made = self.ask("make", "MKCOL", &format!("{place}/"), Default::default()).await?;
        // With this token it can only be there already because this run made it.
        if !made.0.is_success() && made.0.status != 405 {
            return Err(self.refused("make", &place, &made));
        }
        let path = format!("{place}/{}", token_name(maker.token));
        let run = bytes::Bytes::from(maker.run.to_string()).into();
        let put = self.ask("write", "PUT", &path, (Vec::new(), run)).await?;
        if put.0.is_success() { Ok(()) } else { Err(self.refused("write", &path, &put)) }
    }
}

impl MarkedPlace for WebBackend {
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
            let (mut desk, mut claims) = (self.desk()?, Claims::default());
            for token in desk.claims().await? {
                claims.claims.push((token, desk.run_of(token).await?));
                let members = desk.members(&self.place_path(token)).await?;
                claims.has_more |= members.iter().any(|member| member.name != token_name(token));
            }
            Ok(claims)
        })
    }

    fn unmark(&self, token: PlaceToken) -> Result<(), BackendError> {
        let path = format!("{}/", self.place_path(token));
        wait_for(async { self.desk()?.delete(&path).await.map(drop) })
    }

    fn mark(&self, maker: &PlaceMaker) -> Result<(), BackendError> {
        wait_for(async { self.desk()?.make(maker).await })
    }
}
