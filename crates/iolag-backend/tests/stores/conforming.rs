//! The rules for every backend.

use std::fs;
use std::path::PathBuf;

use iolag_backend::conformance::{Planted, conformance_with_foreign};
use iolag_backend::{Place, Target};
use iolag_fixtures::{PostgresServer, S3Server, WebServer};

use crate::{Fresh, backend};

/// Puts a file into the working place and one into the first dataset, where both are directories below `root`.
fn plant(root: PathBuf) -> Planted {
    fs::write(root.join("notes.txt"), "mine").unwrap();
    fs::write(root.join("0_0/notes.txt"), "mine").unwrap();
    Planted { beside: 1, in_dataset: 1 }
}

#[test]
fn a_bucket_conforms() {
    let Some(server) = S3Server::start() else { return };
    let fresh = Fresh::default();
    let make = || backend(&server.target(&fresh.next()));
    let prefix = |place: &Place| {
        let shown = Target::parse(&place.target).unwrap().to_string();
        shown.split('#').next().unwrap().rsplit('/').next().unwrap().to_owned()
    };
    conformance_with_foreign(make, |place| plant(server.objects().join(prefix(place)).join(&place.name)));
}

#[test]
fn webdav_conforms() {
    let Some(server) = WebServer::start() else { return };
    let fresh = Fresh::default();
    let make = || {
        let name = fresh.next();
        fs::create_dir(server.data().join("dav").join(&name)).unwrap();
        backend(&server.target("dav", &format!("dav/{name}")))
    };
    conformance_with_foreign(make, |place| {
        let name = place.target.rsplit('/').next().unwrap();
        let token = place.token.unwrap();
        plant(server.data().join("dav").join(name).join(format!("{}-{token}", place.name)))
    });
}

/// Of a table nobody else can have a row: there is one thing to plant.
fn database_conforms(tables: &str) {
    let Some(server) = PostgresServer::start() else { return };
    let fresh = Fresh::default();
    // A schema is made in a moment, where a database is a copy of files.
    let make = || {
        let schema = fresh.next();
        server.ask("postgres", &format!("CREATE SCHEMA {schema}"));
        backend(&format!("{}?options=-csearch_path%3D{schema}#tables={tables}", server.url("postgres")))
    };
    conformance_with_foreign(make, |place| {
        let schema = place.target.split('#').next().unwrap().rsplit("%3D").next().unwrap();
        server.ask("postgres", &format!("CREATE TABLE {schema}.\"iolag-work notes\" (text text)"));
        Planted { beside: 1, in_dataset: 0 }
    });
}

#[test]
fn a_database_with_one_table_conforms() {
    database_conforms("one");
}

#[test]
fn a_database_with_a_table_for_each_dataset_conforms() {
    database_conforms("dataset");
}
