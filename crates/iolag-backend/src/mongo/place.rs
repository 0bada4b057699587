//! The working place: its collections, made, looked at and removed outside of any session.

use iolag_model::{Clock, Mark, MonotonicClock, Operation, PlaceMaker, PlaceToken};
use mongodb::Database;
use mongodb::bson::{Document, doc};
use mongodb::error::Error;
use mongodb::options::Tls;

use super::access::reach;
use super::driver::{Driver, Notes};
use super::failure::Failed;
use super::url::Collections;
use super::{MongoBackend, session};
use crate::servers::{Claims, Expected, MarkedPlace, dataset_name, key_of, wait_for};
use crate::{BackendError, Greeting, Inventory, Leftover, ObjectKey};

/// The names that iolag makes, each in its one form (PCRE; [`key_of`] is the same for one).
const OURS: &str = "^(0|[1-9][0-9]*)_(0|[1-9][0-9]*)/file-(0|[1-9][0-9]*)$";

/// Why a collection is left.
const FOREIGN: &str = "there are documents in it that iolag does not make";

/// Where administration is done: with a driver of its own, which ends with the runtime of who asks.
struct Desk {
    driver: Driver,
    database: Database,
}

impl MongoBackend {
    /// Comes to a server, which fails at once if none is there.
    async fn desk(&self, parts: &mut Vec<Mark>) -> Result<Desk, BackendError> {
        let options = self.options().await?;
        reach(&options, parts)
            .await
            .map_err(|unreached| self.refused(Failed { code: unreached.code, said: unreached.said }))?;
        let driver = Driver::new((*options).clone()).map_err(|failed| self.refused(failed))?;
        let database = driver.database(&self.url.database);
        Ok(Desk { driver, database })
    }

    fn answer<T>(&self, desk: &Desk, answer: Result<T, Error>) -> Result<T, BackendError> {
        answer.map_err(|error| self.refused(desk.driver.why(&error)))
    }

    /// Whether there is a working place.
    pub(super) async fn find_place(&self) -> Result<(), BackendError> {
        let desk = self.desk(&mut Vec::new()).await?;
        let markers = desk.database.collection::<Document>(&self.name);
        match self.answer(&desk, markers.find_one(doc! {}).await)? {
            Some(_) => Ok(()),
            None => Err(BackendError::NoWorkingSet {
                path: format!("{}, collection {}", self.shown(), self.name),
            }),
        }
    }

    /// Asks for its version.
    pub(super) async fn greeting(&self) -> Result<Greeting, BackendError> {
        let (mut parts, notes) = (Vec::new(), Notes::default());
        let desk = self.desk(&mut parts).await?;
        let asked = notes.of(async { desk.database.run_command(doc! { "buildInfo": 1 }).await });
        let answer = self.answer(&desk, asked.await)?;
        let taken = notes.get();
        parts.extend(taken.as_ref().map(|taken| Mark {
            operation: Operation::CallFirstByte,
            start: taken.at,
            duration: MonotonicClock.now().since(taken.at),
        }));
        let is_protected = matches!(self.options().await?.tls, Some(Tls::Enabled(_)));
        let (software, remark) = software_of(&answer);
        Ok(Greeting {
            software,
            address: taken.map(|taken| taken.server.to_string()),
            protection: is_protected.then_some("TLS"),
            parts,
            settings: Vec::new(),
            remark,
        })
    }

    /// Collections whose names begin with that of the place, and a dot.
    async fn collections(&self, database: &Database) -> Result<Vec<String>, Error> {
        let beginning = format!("{}.", self.name);
        let mut names = database.list_collection_names().await?;
        names.retain(|name| name.starts_with(&beginning));
        names.sort();
        Ok(names)
    }

    /// Whether iolag makes a collection of this name.
    fn is_ours(&self, collection: &str) -> bool {
        let rest = collection.strip_prefix(&self.name).and_then(|rest| rest.strip_prefix('.'));
        rest.is_some_and(|rest| rest == "objects" || key_of(&format!("{rest}/file-0")).is_some())
    }

    async fn contents(&self, database: &Database) -> Result<Claims, Error> {
        let mut claims = Claims::default();
        let mut markers = database.collection::<Document>(&self.name).find(doc! {}).await?;
        while markers.advance().await? {
            let marker = markers.deserialize_current()?;
            let token = marker.get_str("_id").ok().and_then(|token| token.parse().ok());
            let run = marker.get_str("run").ok().and_then(|run| run.parse().ok());
            match token {
                Some(token) => claims.claims.push((token, run)),
                None => claims.has_more = true,
            }
        }
        for name in self.collections(database).await? {
            // One that is empty was left by whoever removed what was in it.
            claims.has_more |= database.collection::<Document>(&name).find_one(doc! {}).await?.is_some();
        }
        Ok(claims)
    }

    pub(super) async fn count(&self, rank: u32, dataset: u32) -> Result<Inventory, BackendError> {
        let key = ObjectKey { rank, dataset, index: 0 };
        let desk = self.desk(&mut Vec::new()).await?;
        let counted = self.count_here(&desk.database, key).await;
        self.answer(&desk, counted)
    }

    async fn count_here(&self, database: &Database, key: ObjectKey) -> Result<Inventory, Error> {
        let name = session::collection_name(&self.name, self.url.collections, key);
        let collection = database.collection::<Document>(&name);
        let ours = format!("^{}/file-(0|[1-9][0-9]*)$", dataset_name(key));
        let objects = collection.count_documents(doc! { "_id": { "$regex": ours } }).await?;
        let all = match self.url.collections {
            Collections::One => session::of_dataset(key),
            Collections::Dataset => doc! {},
        };
        let all = collection.count_documents(all).await?;
        Ok(Inventory { objects, foreign: all.saturating_sub(objects) })
    }

    /// Removes the documents that iolag makes and the collections that are empty then; the marker goes last.
    pub(super) async fn remove(&self, token: PlaceToken) -> Result<Vec<Leftover>, BackendError> {
        let desk = self.desk(&mut Vec::new()).await?;
        let removed = self.remove_here(&desk.database, token).await;
        self.answer(&desk, removed)
    }

    async fn remove_here(&self, database: &Database, token: PlaceToken) -> Result<Vec<Leftover>, Error> {
        let mut left = Vec::new();
        for name in self.collections(database).await? {
            let path = format!("collection {name}");
            if !self.is_ours(&name) {
                left.push(Leftover { path, reason: "iolag makes no collection of this name".to_owned() });
                continue;
            }
            let collection = database.collection::<Document>(&name);
            collection.delete_many(doc! { "_id": { "$regex": OURS } }).await?;
            match collection.find_one(doc! {}).await? {
                None => collection.drop().await?,
                Some(_) => left.push(Leftover { path, reason: FOREIGN.to_owned() }),
            }
        }
        let markers = database.collection::<Document>(&self.name);
        if markers.find_one(doc! { "_id": { "$ne": token.to_string() } }).await?.is_some() {
            left.push(Leftover { path: format!("collection {}", self.name), reason: FOREIGN.to_owned() });
        }
        if left.is_empty() {
            markers.drop().await?;
        }
        Ok(left)
    }

    async fn make(&self, maker: &PlaceMaker) -> Result<(), BackendError> {
        let desk = self.desk(&mut Vec::new()).await?;
        let marker = doc! { "_id": maker.token.to_string(), "run": maker.run.to_string() };
        let markers = desk.database.collection::<Document>(&self.name);
        let made = markers.replace_one(doc! { "_id": maker.token.to_string() }, marker).upsert(true).await;
        self.answer(&desk, made).map(drop)
    }
}

/// The server's software and its version, and what to know about it.
fn software_of(build: &Document) -> (Option<String>, Option<String>) {
    let text = |name| build.get_str(name).ok().filter(|text| *text != "unknown");
    if !build.contains_key("ferretdbVersion") {
        return (text("version").map(|version| format!("MongoDB {version}")), None);
    }
    let version = text("ferretdbVersion").map(|version| format!(" {}", version.trim_start_matches('v')));
    let remark = format!(
        "the server is FerretDB, which speaks as MongoDB {} does: neither its speed nor its durability is that of mongod",
        text("version").unwrap_or_default()
    );
    (Some(format!("FerretDB{}", version.unwrap_or_default())), Some(remark))
}

impl MarkedPlace for MongoBackend {
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
            let desk = self.desk(&mut Vec::new()).await?;
            let found = self.contents(&desk.database).await;
            self.answer(&desk, found)
        })
    }

    fn mark(&self, maker: &PlaceMaker) -> Result<(), BackendError> {
        wait_for(self.make(maker))
    }

    /// The collection stays, with whatever else is in it.
    fn unmark(&self, token: PlaceToken) -> Result<(), BackendError> {
        wait_for(async {
            let desk = self.desk(&mut Vec::new()).await?;
            let markers = desk.database.collection::<Document>(&self.name);
            let deleted = markers.delete_one(doc! { "_id": token.to_string() }).await;
            self.answer(&desk, deleted).map(drop)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_only_speaks_like_it_is_not_called_so() {
        assert_eq!(software_of(&doc! { "version": "7.0.5" }), (Some("MongoDB 7.0.5".to_owned()), None));
        let (software, remark) = software_of(&doc! { "version": "7.0.77", "ferretdbVersion": "v1.24.0" });
        assert_eq!(software.as_deref(), Some("FerretDB 1.24.0"));
        assert!(remark.is_some_and(|remark| remark.contains("as MongoDB 7.0.77 does")));
    }
}
