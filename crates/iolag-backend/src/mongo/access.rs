//! How a database is reached, and by whom: the URL, then the variable `MONGODB_URI`, as options of the driver.

use std::collections::BTreeSet;
use std::time::Duration;

use iolag_model::{FailureCode, Mark, MonotonicClock};
use iolag_net::{Unreached, Variables, Way};
use mongodb::options::{
    ClientOptions, ConnectionString, Credential, HostInfo, ServerAddress, Tls, TlsOptions,
};

use super::failure::Failed;
use super::url::{MongoUrl, understood, without_password};

/// Where who we are stands, if the URL does not say it.
const VARIABLE: &str = "MONGODB_URI";
const USUAL_PORT: u16 = 27017;
/// The driver looks so long for a server, unless the URL says otherwise (serverSelectionTimeoutMS): less than the deadline of a request.
const SELECTION: Duration = Duration::from_secs(5);
/// The pool of a worker is that of thousands of clients: none is to wait for the connection of another one.
const CONNECTIONS_MAX: u32 = u32::MAX;
/// What connects at once: no more than a server takes into its queue.
pub(super) const CONNECTING_MAX: u32 = 64;

/// The options of the driver, which asks nothing twice.
///
/// # Errors
/// If the password of a user is nowhere, or the driver does not have what is asked for.
pub(super) async fn options_of(url: &MongoUrl, variables: &Variables) -> Result<ClientOptions, Failed> {
    let odd = |said| Failed { code: FailureCode::from_errno(libc::EINVAL), said };
    let connection = understood(&url.address).map_err(odd)?;
    let credential = login(url, &connection, variables)?;
    let mut options = ClientOptions::parse(connection).await.map_err(|error| Failed::from(&error))?;
    if let Some(login) = credential {
        match options.credential.as_mut() {
            // Where it is known is what the URL says.
            Some(known) => known.password = login.password,
            None => options.credential = Some(login),
        }
    }
    options.retry_reads = Some(false);
    options.retry_writes = Some(false);
    options.max_adaptive_retries = Some(0);
    options.app_name.get_or_insert_with(|| "iolag".to_owned());
    options.server_selection_timeout.get_or_insert(SELECTION);
    options.max_pool_size.get_or_insert(CONNECTIONS_MAX);
    options.max_connecting.get_or_insert(CONNECTING_MAX);
    protect(&mut options, url);
    Ok(options)
}

/// The driver alone would trust Mozilla's list of authorities, and not what this host trusts.
fn protect(options: &mut ClientOptions, url: &MongoUrl) {
    let mut tls = match (options.tls.take(), &url.ca_file) {
        (Some(Tls::Enabled(tls)), _) => tls,
        (_, Some(_)) => TlsOptions::default(),
        (tls, None) => {
            options.tls = tls;
            return;
        }
    };
    let named = url.ca_file.clone().or(tls.ca_file_path.take());
    tls.ca_file_path = named.or_else(|| openssl_probe::probe().cert_file);
    options.tls = Some(Tls::Enabled(tls));
}

/// Who we are: `None` if nobody says it, or all of it stands in the URL.
fn login(
    url: &MongoUrl,
    connection: &ConnectionString,
    variables: &Variables,
) -> Result<Option<Credential>, Failed> {
    let written = connection.credential.as_ref();
    if let (Some(written), Some(password)) = (written, &url.password) {
        let mut credential = written.clone();
        credential.password = Some(password.reveal().to_owned());
        return Ok(Some(credential));
    }
    let user = written.and_then(|credential| credential.username.as_deref());
    let found = variables.get(VARIABLE).and_then(|text| login_of_variable(text, connection));
    match (user, found) {
        (None, found) => Ok(found.filter(|_| written.is_none())),
        (Some(user), Some(found)) if found.username.as_deref() == Some(user) => Ok(Some(found)),
        (Some(_), _)
            if written
                .is_some_and(|credential| credential.password.is_none() && !needs_password(credential)) =>
        {
            Ok(None)
        }
        (Some(user), _) => {
            let said = format!("the password of {user} is not known");
            Err(Failed { code: FailureCode::from_errno(libc::EACCES), said })
        }
    }
}

/// Those by certificates do not.
fn needs_password(credential: &Credential) -> bool {
    credential.mechanism.as_ref().is_none_or(|mechanism| mechanism.as_str() != "MONGODB-X509")
}

/// A password goes to the hosts for which it was given, and to no others.
fn login_of_variable(text: &str, connection: &ConnectionString) -> Option<Credential> {
    let (address, password) = without_password(text).ok()?;
    let known = understood(&address).ok()?;
    let is_same = hosts_of(&known) == hosts_of(connection);
    let source = known.default_database.clone();
    let mut credential = known.credential.filter(|_| is_same)?;
    credential.password = Some(password?.reveal().to_owned());
    credential.source = credential.source.or(source).or_else(|| Some("admin".to_owned()));
    Some(credential)
}

fn hosts_of(connection: &ConnectionString) -> BTreeSet<String> {
    match &connection.host_info {
        HostInfo::HostIdentifiers(hosts) => hosts.iter().map(ToString::to_string).collect(),
        _ => BTreeSet::new(),
    }
}

/// Comes to the first server that takes a connection, which is ended again: the driver tells neither of the parts of that, nor at once
/// that nobody is there.
pub(super) async fn reach(options: &ClientOptions, parts: &mut Vec<Mark>) -> Result<(), Unreached> {
    let mut refused = Ok(());
    for server in &options.hosts {
        let ServerAddress::Tcp { host, port } = server else { return Ok(()) };
        match Way::plain(host, port.unwrap_or(USUAL_PORT)).connect(&MonotonicClock, parts).await {
            Ok(_) => return Ok(()),
            Err(unreached) => refused = Err(unreached),
        }
    }
    refused
}

#[cfg(test)]
mod tests {
    use super::*;

    type Known = Option<(String, String, Option<String>)>;

    fn credential(target: &str, variable: &str) -> Result<Known, String> {
        let variables: Variables = [(VARIABLE.to_owned(), variable.to_owned())].into_iter().collect();
        let url = MongoUrl::parse(target).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let options = runtime.block_on(options_of(&url, &variables)).map_err(|failed| failed.said)?;
        assert_eq!(
            (options.retry_reads, options.retry_writes, options.max_adaptive_retries),
            (Some(false), Some(false), Some(0))
        );
        let of = |credential: Credential| {
            (
                credential.username.unwrap_or_default(),
                credential.password.unwrap_or_default(),
                credential.source,
            )
        };
        Ok(options.credential.map(of))
    }

    fn is(user: &str, password: &str, source: &str) -> Known {
        Some((user.to_owned(), password.to_owned(), Some(source.to_owned())))
    }

    #[test]
    fn who_we_are_stands_in_the_url_or_in_the_variable() {
        let variable = "mongodb://me:gehe%2Fim@a:27017/site?authSource=users";
        assert_eq!(credential("mongodb://you:w%40rt@a/b", variable), Ok(is("you", "w@rt", "b")));
        assert_eq!(credential("mongodb://a/b", variable), Ok(is("me", "gehe/im", "users")));
        assert_eq!(credential("mongodb://me@a/b?authSource=x", variable), Ok(is("me", "gehe/im", "x")));
        assert_eq!(
            credential("mongodb://me:***@a/b", variable),
            Ok(is("me", "gehe/im", "b")),
            "it was stored"
        );
        assert_eq!(credential("mongodb://a/b", ""), Ok(None));
        assert_eq!(credential("mongodb://a/b", "mongodb://me:geheim@a"), Ok(is("me", "geheim", "admin")));
        let by_certificate = "mongodb://CN=me@a/b?authMechanism=MONGODB-X509";
        assert_eq!(credential(by_certificate, ""), Ok(is("CN=me", "", "$external")));
    }

    #[test]
    fn a_password_is_for_the_hosts_it_was_given_for() {
        let variable = "mongodb://me:geheim@a/site";
        assert_eq!(credential("mongodb://other/b", variable), Ok(None));
        for target in ["mongodb://me@other/b", "mongodb://you@a/b", "mongodb://you:***@a/b"] {
            let error = credential(target, variable).unwrap_err();
            assert!(error.ends_with(" is not known") && !error.contains("geheim"), "{error}");
        }
        // What cannot be understood is no error where nobody needs it, and is not repeated.
        assert_eq!(credential("mongodb://a/b", "mongodb+srv://me:geheim@a"), Ok(None));
        assert!(!credential("mongodb://me@a/b", "mongodb://me:ge@heim@a/b").unwrap_err().contains("heim"));
    }
}
