//! Requests to web servers and to buckets on hyper, a connection for each client, signed as iolag signs them.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::HOST;
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use iolag_model::MonotonicClock;
use iolag_net::{Protection, Way};
use jiff::Timestamp;
use rusty_s3::{Bucket, Method as Signed, UrlStyle, signing};
use url::Url;

use super::shared::{Shared, noise};
use crate::load::{Load, OBJECT_BYTES, OBJECTS, What};

/// A server, and who asks it for what.
struct Asked {
    /// Where to connect to.
    base: Url,
    /// Bucket, key and secret.
    signing: Option<(Bucket, String, String)>,
}

impl Asked {
    fn of(target: &str) -> Result<Self> {
        let url = Url::parse(target)?;
        if url.scheme() != "s3" {
            return Ok(Self { base: url, signing: None });
        }
        let setting = setting_of(&url, "endpoint").context("the target names no endpoint")?;
        let base = Url::parse(&setting)?;
        let (name, decode) = (url.host_str().context("it names no bucket")?, |text: &str| {
            text.replace("%2F", "/").replace("%2B", "+")
        });
        let bucket = Bucket::new(base.clone(), UrlStyle::Path, name.to_owned(), "us-east-1".to_owned())?;
        let secret = decode(url.password().context("it names no secret")?);
        Ok(Self { base, signing: Some((bucket, url.username().to_owned(), secret)) })
    }

    /// The path of an object, of a client, by its number.
    fn path(&self, method: Signed, rank: u32, index: u64) -> String {
        let Some((bucket, key, secret)) = &self.signing else { return self.base.path().to_owned() };
        let url = bucket.object_url(&format!("bare/{rank}_0/file-{index}"));
        let nothing = std::iter::empty::<(&str, &str)>;
        let region = bucket.region();
        let now = Timestamp::now();
        let url = signing::sign(&now, method, url, key, secret, None, region, 900, nothing(), nothing());
        url[url::Position::BeforePath..].to_owned()
    }
}

fn setting_of(url: &Url, name: &str) -> Option<String> {
    let settings = url.fragment()?.split(',');
    let named = settings.filter_map(|setting| setting.split_once('=')).find(|(known, _)| *known == name);
    named.map(|(_, value)| value.to_owned())
}

/// One client.
pub struct Asks {
    sender: SendRequest<Full<Bytes>>,
    asked: Asked,
    authority: String,
    what: What,
    rank: u32,
    content: Bytes,
}

/// Makes the object that the target names.
pub async fn make(load: &Load) -> Result<()> {
    let bytes = match load.what {
        What::Get { bytes } => bytes,
        What::Objects | What::Idle => OBJECT_BYTES,
    };
    let mut asks = Asks::open(load, 0).await?;
    asks.content = Bytes::from(noise(bytes));
    asks.put(0).await
}

impl Asks {
    /// Connects, and makes the client's objects.
    pub async fn open(load: &Load, rank: u32) -> Result<Self> {
        let asked = Asked::of(&load.target)?;
        let host = asked.base.host_str().context("it names no host")?.to_owned();
        let port = asked.base.port_or_known_default().context("it names no port")?;
        let way = match asked.base.scheme() {
            "http" | "dav" => Way::plain(&host, port),
            _ => {
                let authority = setting_of(&Url::parse(&load.target)?, "ca-file").map(PathBuf::from);
                let config =
                    Protection::Full(authority).client_config("ca-file").map_err(|error| anyhow!(error))?;
                Way::protected(&host, port, Arc::new(config)).map_err(|error| anyhow!(error))?
            }
        };
        let stream = way.connect(&MonotonicClock, &mut Vec::new()).await;
        let stream = stream.map_err(|unreached| anyhow!(unreached.said))?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        // That it has ended shows in what is asked.
        drop(tokio::task::spawn_local(connection));
        let content = Bytes::from(noise(OBJECT_BYTES));
        let authority = format!("{host}:{port}");
        let mut asks = Self { sender, asked, authority, what: load.what, rank, content };
        if load.what == What::Objects {
            for index in 0..OBJECTS {
                asks.put(index).await?;
            }
        }
        Ok(asks)
    }

    /// In turn, as iolag's clients do.
    pub async fn until_over(mut self: Box<Self>, shared: &Shared) -> Result<()> {
        let rank = self.rank;
        let count = || shared.counted.count(rank, true);
        for index in 0.. {
            match self.what {
                What::Get { bytes } => {
                    let path = self.asked.path(Signed::Get, rank, index);
                    let came = self.ask(Method::GET, path, Bytes::new()).await?;
                    ensure!(came == bytes, "{came} bytes came instead of {bytes}");
                }
                What::Idle => tokio::time::sleep(std::time::Duration::from_millis(100)).await,
                What::Objects => {
                    let path = self.asked.path(Signed::Head, rank, index);
                    self.ask(Method::HEAD, path, Bytes::new()).await?;
                    count();
                    let path = self.asked.path(Signed::Get, rank, index);
                    let came = self.ask(Method::GET, path, Bytes::new()).await?;
                    ensure!(came == OBJECT_BYTES, "{came} bytes came");
                    count();
                    let path = self.asked.path(Signed::Delete, rank, index);
                    self.ask(Method::DELETE, path, Bytes::new()).await?;
                    count();
                    self.put(index + OBJECTS).await?;
                }
            }
            count();
            if shared.is_over() {
                break;
            }
        }
        Ok(())
    }

    async fn put(&mut self, index: u64) -> Result<()> {
        let path = self.asked.path(Signed::Put, self.rank, index);
        let content = self.content.clone();
        self.ask(Method::PUT, path, content).await.map(drop)
    }

    /// How many bytes came.
    async fn ask(&mut self, method: Method, path: String, body: Bytes) -> Result<u64> {
        let request = Request::builder().method(method).uri(path).header(HOST, &self.authority);
        let response = self.sender.send_request(request.body(Full::new(body))?).await?;
        ensure!(response.status().is_success(), "{}", response.status());
        let (mut body, mut came) = (response.into_body(), 0);
        while let Some(frame) = body.frame().await {
            came += frame?.data_ref().map_or(0, |bytes| bytes.len() as u64);
        }
        Ok(came)
    }
}
