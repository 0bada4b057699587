//! `iolag serve` in the hands of a test, and a client as small as one can be.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;

use crate::stage::Stage;
use crate::support::{Finished, PATIENCE, Running, wait_for};

pub struct Server {
    running: Running,
    pub address: SocketAddr,
}

/// What was answered.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    /// Names in lower case; of several with one name all values, with a comma between.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl Server {
    /// Serves what is on a stage.
    pub fn start(stage: &Stage, more: &[&str]) -> Self {
        let runtime = stage.runtime();
        let mut arguments = vec!["serve", "--listen", "127.0.0.1:0", "--history", &stage.history];
        arguments.extend(["--runtime", runtime.to_str().unwrap()]);
        arguments.extend(more);
        let mut running = stage.scene.start(&arguments);
        running.wait_for("serving http://");
        let said = running.stderr();
        let address = said.split("http://").nth(1).and_then(|rest| rest.split('/').next()).unwrap();
        Self { address: address.parse().unwrap(), running }
    }

    pub fn id(&self) -> u32 {
        self.running.id()
    }

    /// What it has said on standard error.
    pub fn said(&self) -> String {
        self.running.stderr()
    }

    /// Where it has metrics for other machines.
    pub fn metrics_address(&mut self) -> SocketAddr {
        self.running.wait_for("/metrics for whoever has ");
        let said = self.said();
        let address = said.split("https://").nth(1).and_then(|rest| rest.split('/').next()).unwrap();
        address.parse().unwrap()
    }

    pub fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[])
    }

    pub fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            head.push_str(&format!("Host: {}\r\n", self.address));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        self.send(format!("{head}\r\n").as_bytes())
    }

    /// Sends bytes as they are, and reads until the server closes.
    pub fn send(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        // A server that refuses a request may close before it has read all of it.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        Answer::parse(&answer)
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect_timeout(&self.address, PATIENCE).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// What is going on, as JSON.
    pub fn now(&self) -> Value {
        self.get("/now.json").json()
    }

    /// Waits until what is going on is like this.
    pub fn wait_for(&self, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        wait_for(what, || Some(self.now()).filter(|now| is_so(now)))
    }

    /// Waits until the history has been read to its end.
    pub fn wait_until_read(&self) -> Value {
        self.wait_for("a reading of the history", |now| now["history"]["is_read"] == true)
    }

    /// Ends it as Ctrl-C does.
    pub fn stop(self) -> Finished {
        self.running.signal(libc::SIGINT);
        self.running.finish()
    }
}

impl Answer {
    pub fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("no head: {}", String::from_utf8_lossy(bytes)));
        let head = std::str::from_utf8(&bytes[..end]).unwrap();
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers: BTreeMap<String, String> = BTreeMap::new();
        for line in lines {
            let (name, value) = line.split_once(": ").unwrap();
            let all = headers.entry(name.to_ascii_lowercase()).or_default();
            if !all.is_empty() {
                all.push_str(", ");
            }
            all.push_str(value);
        }
        Self { status, headers, body: bytes[end + 4..].to_vec() }
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub fn json(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        serde_json::from_slice(&self.body).unwrap()
    }
}
