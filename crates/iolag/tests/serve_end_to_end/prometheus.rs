//! A real Prometheus scrapes the server: as text, and in protobuf with native histograms.

use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use iolag_fixtures::{current_test, skip};
use serde_json::Value;

use crate::certificates::write_secret;
use crate::elsewhere::Site;
use crate::server::Server;
use crate::stage::{Stage, target};
use crate::support::{PATIENCE, end, wait_for};

const PORTS_MAX: u32 = 5;

pub struct Prometheus {
    child: Child,
    port: u16,
}

impl Prometheus {
    /// Starts one that scrapes `server` every second, or names the test as skipped.
    fn start(stage: &Stage, server: &Server, more: &[&str]) -> Option<Self> {
        let text = format!(
            "scrape_configs:\n  - job_name: iolag\n    scrape_interval: 1s\n    static_configs:\n      - targets: [\"{}\"]\n",
            server.address
        );
        Self::configured(stage, &text, more)
    }

    /// Starts one that scrapes and looks at the alerts of `monitoring/` every second, or names the test as skipped.
    pub fn with_rules(stage: &Stage, server: &Server) -> Option<Self> {
        let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../monitoring/iolag-rules.yml");
        let text = format!(
            "global:\n  scrape_interval: 1s\n  evaluation_interval: 1s\nrule_files: [{:?}]\n\
             scrape_configs:\n  - job_name: iolag\n    static_configs:\n      - targets: [\"{}\"]\n",
            rules.canonicalize().unwrap(),
            server.address
        );
        Self::configured(stage, &text, &[])
    }

    /// Starts one with this configuration, or names the test as skipped.
    fn configured(stage: &Stage, text: &str, more: &[&str]) -> Option<Self> {
        let version =
            Command::new("prometheus").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        if !version.is_ok_and(|status| status.success()) {
            skip(&current_test(), "there is no prometheus (Debian's package prometheus)");
            return None;
        }
        // Somebody else may take a port between the look and the start.
        for _ in 0..PORTS_MAX {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let mut started = Self { child: Self::launch(stage, text, more, port), port };
            let mut has_ended = false;
            wait_for("an answer of prometheus", || {
                has_ended = !matches!(started.child.try_wait(), Ok(None));
                (has_ended || started.get("/api/v1/status/buildinfo").is_some()).then_some(())
            });
            if !has_ended {
                return Some(started);
            }
        }
        panic!("prometheus ends at once, on {PORTS_MAX} ports");
    }

    fn launch(stage: &Stage, text: &str, more: &[&str], port: u16) -> Child {
        let file = stage.scene.path().join(format!("prometheus-{port}.yml"));
        std::fs::write(&file, text).unwrap();
        Command::new("prometheus")
            .arg(format!("--config.file={}", file.display()))
            .arg(format!("--storage.tsdb.path={}", stage.scene.path().join(format!("tsdb-{port}")).display()))
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .args(more)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    /// The answer to an instant query of one series, once there is one.
    fn value(&self, query: &str) -> Value {
        let encoded: String = query.bytes().map(|byte| format!("%{byte:02X}")).collect();
        wait_for(query, || {
            let answer = self.get(&format!("/api/v1/query?query={encoded}"))?;
            let results = answer["data"]["result"].as_array()?;
            assert!(results.len() <= 1, "{query}: {answer}");
            results.first().cloned()
        })
    }

    fn number(&self, query: &str) -> f64 {
        self.value(query)["value"][1].as_str().unwrap().parse().unwrap()
    }

    pub fn get(&self, path: &str) -> Option<Value> {
        use std::io::Write;
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        // HTTP/1.0: the answer comes in one piece.
        write!(stream, "GET {path} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n").ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        serde_json::from_str(answer.split_once("\r\n\r\n")?.1).ok()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

const PROBE: &str = "{task=\"open-read\",target=\"home\"}";

fn measured() -> (Stage, Server) {
    let stage = Stage::new();
    let directory = stage.directory("watched");
    let text = format!("every = \"200ms\"\njitter = \"0\"\n{}", target("home", directory, "open-read"));
    let file = stage.configure(&text);
    // One round each: on a busy machine one would be skipped that is due while the one before is under way.
    for _ in 0..6 {
        stage.watch_to(0, &["-c", &file, "--rounds", "1"]);
    }
    let server = Server::start(&stage, &[]);
    server.wait_until_read();
    (stage, server)
}

fn sum_seconds(stage: &Stage) -> f64 {
    let remembered = stage.remembered();
    let samples = remembered.wholes("home", "open-read");
    assert_eq!(samples.len(), 6);
    samples.iter().map(|sample| sample.duration_ns.0).sum::<u64>() as f64 / 1e9
}

#[test]
fn it_reads_the_text() {
    let (stage, server) = measured();
    let Some(prometheus) = Prometheus::start(&stage, &server, &[]) else { return };
    assert_eq!(prometheus.number(&format!("iolag_probe_duration_seconds_count{PROBE}")), 6.0);
    let sum = prometheus.number(&format!("iolag_probe_duration_seconds_sum{PROBE}"));
    assert!((sum - sum_seconds(&stage)).abs() < 1e-9);
    let fast = prometheus
        .number("iolag_probe_duration_seconds_bucket{task=\"open-read\",target=\"home\",le=\"10.0\"}");
    assert_eq!(fast, 6.0);
    assert_eq!(prometheus.number("up"), 1.0);
    server.stop();
}

#[test]
fn it_reads_native_histograms() {
    let (stage, server) = measured();
    let Some(prometheus) = Prometheus::start(&stage, &server, &["--enable-feature=native-histograms"]) else {
        return;
    };
    let histogram = format!("iolag_probe_duration_seconds{PROBE}");
    assert_eq!(prometheus.number(&format!("histogram_count({histogram})")), 6.0);
    let sum = prometheus.number(&format!("histogram_sum({histogram})"));
    assert!((sum - sum_seconds(&stage)).abs() < 1e-9);
    let found = prometheus.value(&histogram);
    let buckets = found["histogram"][1]["buckets"].as_array().unwrap();
    let number = |value: &Value| value.as_str().unwrap().parse::<f64>().unwrap();
    let remembered = stage.remembered();
    let mut inside = 0;
    for bucket in buckets {
        let (low, high, count) = (number(&bucket[1]), number(&bucket[2]), number(&bucket[3]));
        assert!(high / low < 1.1, "{bucket}");
        let seconds = |ns: u64| ns as f64 / 1e9;
        let samples = remembered.wholes("home", "open-read");
        let held = samples
            .iter()
            .map(|sample| seconds(sample.duration_ns.0))
            .filter(|took| low < *took && *took <= high);
        assert_eq!(held.count() as f64, count, "{bucket}");
        inside += count as u64;
    }
    assert_eq!(inside, 6);
    assert_eq!(
        prometheus.number("iolag_probe_runs_total{task=\"open-read\",target=\"home\",outcome=\"ok\"}"),
        6.0
    );
    server.stop();
}

/// The configurations of the documentation that scrape from another machine.
fn documented() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/serve.md");
    let text = std::fs::read_to_string(page).unwrap();
    let blocks = text.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next());
    blocks.filter(|block| block.contains("scheme: https")).map(str::to_owned).collect()
}

#[test]
fn it_scrapes_from_elsewhere_as_documented() {
    let site = Site::new();
    let place = site.stage.scene.path();
    let authority = write_secret(place, "authority.pem", &site.authority.certificate());
    let own = site.authority.client();
    let certificate = write_secret(place, "prometheus.pem", &own.certificate);
    let key = write_secret(place, "prometheus.key", &own.key);
    let admitting = [["--token-file", &site.token], ["--client-ca", &authority]];
    let documented = documented();
    assert_eq!(documented.len(), admitting.len());
    for (text, admitting) in documented.iter().zip(admitting) {
        let (server, metrics) = site.serve(&admitting);
        let mut text = text.replace("scheme: https", "scheme: https\n    scrape_interval: 1s");
        for (there, here) in [
            ("/etc/prometheus/iolag-ca.pem", authority.as_str()),
            ("/etc/prometheus/iolag-token", &site.token),
            ("/etc/prometheus/prometheus.pem", &certificate),
            ("/etc/prometheus/prometheus.key", &key),
            ("login1.example.org:9717", &metrics.to_string()),
        ] {
            text = text.replace(there, here);
        }
        assert!(!text.contains("/etc/") && !text.contains("example"), "{text}");
        let Some(prometheus) = Prometheus::configured(&site.stage, &text, &[]) else { return };
        let file = place.join(format!("prometheus-{}.yml", prometheus.port));
        let checked = Command::new("promtool").args(["check", "config"]).arg(file).output().unwrap();
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
        assert_eq!(prometheus.number("up == 1"), 1.0);
        assert_eq!(
            prometheus.number("iolag_probe_duration_seconds_count{task=\"stat\",target=\"home\"}"),
            1.0
        );
        server.stop();
    }
}
