//! A toy of a store with the semantics of S3: one flat map of keys, in which nothing is made but objects, deleting what is missing
//! succeeds, and nothing is renamed. Its working place is a common beginning of keys, known by an object that is named after the token
//! and holds the run's id.
//!
//! Every request waits before and after it has had its effect, so that it can be dropped in the middle.

mod session;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use iolag_backend::{
    AsyncOpening, AsyncSession, Backend, BackendError, Blocking, Capabilities, Datasets, Description,
    Descriptors, FullDataset, Inventory, Leftover, MissingDelete, ObjectKey, ObjectNames, Place, PlaceProof,
    Queue, Semantics, Session, SessionOpening, SessionOptions, token_name,
};
use iolag_model::{Operation, PlaceMaker, PlaceToken};
use session::ToySession;

/// What is in the store, by key.
pub type Objects = BTreeMap<String, Vec<u8>>;

/// A bucket, as all who know it share it.
#[derive(Debug, Clone, Default)]
pub struct Bucket(Arc<Mutex<Objects>>);

impl Bucket {
    /// Asks at once.
    pub fn ask<T>(&self, question: impl FnOnce(&mut Objects) -> T) -> T {
        question(&mut self.0.lock().unwrap())
    }

    /// Asks as if over a network: the question travels, and so does the answer.
    async fn request<T>(&self, question: impl FnOnce(&mut Objects) -> T) -> T {
        tokio::task::yield_now().await;
        let answer = self.ask(question);
        tokio::task::yield_now().await;
        answer
    }
}

/// A bucket as a target.
pub struct ToyStore {
    bucket: Bucket,
    /// What all keys of the working place begin with.
    prefix: String,
    /// By what its marker is known, once that is known.
    expected: Mutex<Option<PlaceToken>>,
}

impl ToyStore {
    /// The working place `name` in a bucket.
    pub fn new(bucket: Bucket, name: &str) -> Self {
        Self { bucket, prefix: format!("{name}/"), expected: Mutex::default() }
    }

    fn marker(&self, token: PlaceToken) -> String {
        format!("{}{}", self.prefix, token_name(token))
    }

    fn contents(&self) -> Contents {
        let is_inside = |(key, _): &(&String, &Vec<u8>)| key.starts_with(&self.prefix);
        let mut contents = Contents::default();
        self.bucket.ask(|objects| {
            for (key, bytes) in objects.iter().filter(is_inside) {
                match key[self.prefix.len()..].strip_prefix(".iolag-").map(str::parse) {
                    Some(Ok(token)) => {
                        contents.marker = Some((token, String::from_utf8_lossy(bytes).into_owned()));
                    }
                    _ => contents.others.push(key.clone()),
                }
            }
        });
        contents
    }

    fn place(&self, token: PlaceToken) -> Place {
        *self.expected.lock().unwrap() = Some(token);
        Place {
            target: "toy:".to_owned(),
            name: self.prefix.trim_end_matches('/').to_owned(),
            identity: None,
            token: Some(token),
            file_system: None,
            remark: None,
        }
    }

    fn no_working_set(&self) -> BackendError {
        BackendError::NoWorkingSet { path: self.prefix.clone() }
    }

    /// It is not the run's own.
    fn taken(&self, contents: &Contents) -> BackendError {
        let path = self.prefix.clone();
        match contents.marker.as_ref().and_then(|(_, run)| run.parse().ok()) {
            Some(run) => BackendError::Claimed { path, run },
            None => BackendError::NotEmpty { path },
        }
    }

    fn opening<'a>(&'a self, options: &'a SessionOptions) -> AsyncOpening<'a> {
        Box::pin(async {
            let marker = format!("{}.iolag-", self.prefix);
            let has_place = |objects: &mut Objects| objects.keys().any(|key| key.starts_with(&marker));
            match self.bucket.request(has_place).await {
                true => {
                    let session = ToySession::new(self.bucket.clone(), &self.prefix, options);
                    Ok(Box::new(session) as Box<dyn AsyncSession>)
                }
                false => Err(self.no_working_set()),
            }
        })
    }
}

/// What is in the working place.
#[derive(Default)]
struct Contents {
    /// Of whom, and the run's id.
    marker: Option<(PlaceToken, String)>,
    /// All other keys.
    others: Vec<String>,
}

impl Backend for ToyStore {
    fn describe(&self) -> Description {
        Description { kind: "toy", target: "toy:".to_owned(), semantics: "a map from keys to bytes" }
    }

    fn capabilities(&self) -> Capabilities {
        use Operation::{Create, Delete, List, Read, Stat};
        Capabilities {
            operations: vec![Create, Read, Stat, Delete, List],
            semantics: Semantics {
                missing_delete: MissingDelete::Succeeds,
                datasets: Datasets::Implied,
                full_dataset: FullDataset::NotRemovable,
                place: PlaceProof::Marker,
                descriptors: Descriptors::Shared,
                opening: SessionOpening::Asynchronous { at_once: 256 },
                objects: ObjectNames::AlsoNamed,
                queue: Queue::None,
            },
        }
    }

    fn expect_place(&self, place: &Place) {
        *self.expected.lock().unwrap() = place.token;
    }

    fn create_place(&self, maker: &PlaceMaker) -> Result<Place, BackendError> {
        let contents = self.contents();
        let is_free = contents.others.is_empty()
            && contents.marker.as_ref().is_none_or(|(token, _)| *token == maker.token);
        if !is_free {
            return Err(self.taken(&contents));
        }
        let run = maker.run.to_string().into_bytes();
        self.bucket.ask(|objects| objects.insert(self.marker(maker.token), run));
        Ok(self.place(maker.token))
    }

    fn reopen_place(&self) -> Result<Place, BackendError> {
        let contents = self.contents();
        let expected = *self.expected.lock().unwrap();
        match &contents.marker {
            _ if contents.others.is_empty() => Err(self.no_working_set()),
            Some((token, _)) if expected.is_none_or(|expected| expected == *token) => Ok(self.place(*token)),
            _ => Err(self.taken(&contents)),
        }
    }

    fn open_session(&self, options: &SessionOptions) -> Result<Box<dyn Session>, BackendError> {
        Ok(Box::new(Blocking::open(self.opening(options))?))
    }

    fn open_async_session<'a>(&'a self, options: &'a SessionOptions) -> Option<AsyncOpening<'a>> {
        Some(self.opening(options))
    }

    fn inventory(&self, rank: u32, dataset: u32) -> Result<Inventory, BackendError> {
        let beginning = format!("{}{rank}_{dataset}/", self.prefix);
        let mut inventory = Inventory::default();
        for key in self.contents().others.iter().filter(|key| key.starts_with(&beginning)) {
            match is_ours(&key[self.prefix.len()..]) {
                true => inventory.objects += 1,
                false => inventory.foreign += 1,
            }
        }
        Ok(inventory)
    }

    /// Without its marker nothing is removed; it goes last.
    fn remove_place(&self) -> Result<Vec<Leftover>, BackendError> {
        let contents = self.contents();
        let expected = *self.expected.lock().unwrap();
        let marker = match &contents.marker {
            None if contents.others.is_empty() => return Ok(Vec::new()),
            Some((token, _)) if Some(*token) == expected => self.marker(*token),
            _ => return Err(self.taken(&contents)),
        };
        let (ours, foreign): (Vec<_>, Vec<_>) =
            contents.others.into_iter().partition(|key| is_ours(&key[self.prefix.len()..]));
        self.bucket.ask(|objects| {
            ours.iter().for_each(|key| drop(objects.remove(key)));
            if foreign.is_empty() {
                objects.remove(&marker);
            }
        });
        let kept = |path| Leftover { path, reason: "iolag makes nothing of this name".to_owned() };
        Ok(foreign.into_iter().map(kept).collect())
    }
}

/// An object's key without the beginning that all in the place have in common.
fn key_of(key: ObjectKey) -> String {
    format!("{}_{}/file-{}", key.rank, key.dataset, key.index)
}

/// Whether it is the key of an object, as [`key_of`] would make it.
fn is_ours(key: &str) -> bool {
    let parsed = || {
        let (dataset, index) = key.split_once("/file-")?;
        let (rank, dataset) = dataset.split_once('_')?;
        let (rank, dataset) = (rank.parse().ok()?, dataset.parse().ok()?);
        Some(ObjectKey { rank, dataset, index: index.parse().ok()? })
    };
    parsed().is_some_and(|found| key_of(found) == key)
}
