//! Real servers, each of one test alone: a directory among the temporary files, a free port of the loopback, and an end with the test.

mod certificates;
mod mongo;
mod postgres;
mod proxy;
mod running;
mod s3;
mod web;

pub use mongo::MongoServer;
pub use postgres::PostgresServer;
pub use proxy::{Proxy, ProxyFault};
pub use s3::S3Server;
pub use web::WebServer;

pub(crate) use running::free_port;
