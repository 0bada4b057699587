//! What the user can type for serving.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use crate::args::history::HistoryPlace;
use crate::args::values::parse_file;
use crate::serve::LoopbackAddress;

/// `iolag serve`.
#[derive(Debug, Args)]
pub struct Serve {
    /// Where to listen: a port of this machine's own address; 0 lets the system choose
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9716")]
    pub listen: LoopbackAddress,
    /// The watch's configuration file, for where history and runtime directory are
    #[arg(short = 'c', long = "config", value_name = "FILE", value_parser = parse_file)]
    pub configuration: Option<PathBuf>,
    /// What the page shows of the history: from then on, as in 30d, yesterday or 2008-05-08
    #[arg(long, value_name = "TIME", default_value = "30d")]
    pub since: String,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub place: HistoryPlace,
    /// The watch's directory in memory [default: iolag-UID in /dev/shm, else in another tmpfs]
    #[arg(long, value_name = "DIR", value_parser = parse_file)]
    pub runtime: Option<PathBuf>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub elsewhere: MetricsElsewhere,
}

/// Metrics for other machines.
#[derive(Debug, Args)]
#[command(next_help_heading = "Metrics for other machines")]
pub struct MetricsElsewhere {
    /// Where to listen for them, over TLS, as in 0.0.0.0:9717; who asks must have a token or a certificate
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = parse_address)]
    pub metrics_listen: Option<SocketAddr>,
    /// The certificate to show, then those up to its authority, in PEM
    #[arg(long, value_name = "FILE", value_parser = parse_file, requires = "metrics_listen")]
    pub tls_certificate: Option<PathBuf>,
    /// The certificate's private key, in PEM
    #[arg(long, value_name = "FILE", value_parser = parse_file, requires = "metrics_listen")]
    pub tls_key: Option<PathBuf>,
    /// The token that they must send, as in "Authorization: Bearer TOKEN"
    #[arg(long, value_name = "FILE", value_parser = parse_file, requires = "metrics_listen")]
    pub token_file: Option<PathBuf>,
    /// The authorities of which they must have a certificate, in PEM
    #[arg(long, value_name = "FILE", value_parser = parse_file, requires = "metrics_listen")]
    pub client_ca: Option<PathBuf>,
}

fn parse_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "expected an address of this machine and a port, as in 0.0.0.0:9717".to_owned())
}
