//! What is asked and answered. Nothing of a request chooses a file, a query or a word: there is a fixed set of answers,
//! all made from what is known, or from the one document that is the same for all.

use std::sync::Arc;

use axum::Router;
use axum::extract::{FromRef, Request, State};
use axum::http::header::{
    ACCEPT, ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, RETRY_AFTER, VARY,
    WWW_AUTHENTICATE,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use iolag_report::{LIVE_HISTORY_POLICY, LIVE_STYLE, live_page, write_live_history_html};
use serde::Serialize;

use crate::serve::documents::Documents;
use crate::serve::door::address::is_local_name;
use crate::serve::door::negotiation::form_for;
use crate::serve::view::Knowledge;

const HTML: &str = "text/html; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";
const JSON: &str = "application/json";

/// For everything but the live page, which has a policy of its own: no script, nothing from elsewhere.
const POLICY: &str =
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'";

/// What every answer says to browsers: show this in no frame, keep nothing, tell nobody where you were.
const HEADERS: [(HeaderName, &str); 6] = [
    (HeaderName::from_static("x-content-type-options"), "nosniff"),
    (HeaderName::from_static("x-frame-options"), "DENY"),
    (HeaderName::from_static("referrer-policy"), "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (CACHE_CONTROL, "no-store"),
];

/// What there is, for who asks for something else.
const CONTENTS: &str = "there is / (the live page), /now (without JavaScript), /now.json, /data, /status, /metrics and /healthz\n";

#[derive(Clone)]
struct Known {
    knowledge: Arc<Knowledge>,
    documents: Arc<Documents>,
}

/// Which names of the server are answered to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    /// A page of another site whose name leads here (DNS rebinding) is told nothing.
    OfLoopback,
    /// Such a page has neither the token nor, for its site's name, a certificate of ours.
    Any,
}

impl FromRef<Known> for Arc<Knowledge> {
    fn from_ref(known: &Known) -> Self {
        Self::clone(&known.knowledge)
    }
}

/// What other machines get.
pub(super) fn metrics_routes(knowledge: Arc<Knowledge>) -> Router {
    Router::new()
        .route("/metrics", get(metrics))
        .fallback(async || (StatusCode::NOT_FOUND, answer(TEXT, "there is /metrics\n")))
        .with_state(knowledge)
        .layer(from_fn(|request, next| guard(Names::Any, request, next)))
}

/// For who has no token, or another. The connection ends: each guess costs the guesser another one.
pub(super) fn not_admitted() -> Response {
    let headers = [(WWW_AUTHENTICATE, "Bearer"), (CONNECTION, "close")];
    dressed((StatusCode::UNAUTHORIZED, headers, answer(TEXT, "not admitted\n")).into_response())
}

/// All answers, for this machine.
pub(super) fn routes(knowledge: Arc<Knowledge>, documents: Arc<Documents>) -> Router {
    Router::new()
        .route("/", get(live))
        .route("/data", get(data))
        .route("/status", get(async |State(known): State<Known>| json(&known.knowledge.status())))
        .route(
            "/now",
            get(async |State(known): State<Known>| answer(HTML, live_page(&known.knowledge.document()))),
        )
        .route("/now.json", get(async |State(known): State<Known>| json(&known.knowledge.document())))
        .route("/now.css", get(async || answer("text/css; charset=utf-8", LIVE_STYLE)))
        .route("/metrics", get(metrics))
        .route("/healthz", get(async || answer(TEXT, "ok\n")))
        .fallback(async || (StatusCode::NOT_FOUND, answer(TEXT, CONTENTS)))
        .with_state(Known { knowledge, documents })
        .layer(from_fn(|request, next| guard(Names::OfLoopback, request, next)))
}

/// The live page: a frame whose script asks for the rest.
async fn live() -> Response {
    let mut page = Vec::new();
    if let Err(error) = write_live_history_html(None, &mut page) {
        return broken(&error);
    }
    let mut response = answer(HTML, page);
    let policy = HeaderValue::from_static(LIVE_HISTORY_POLICY);
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    response
}

/// What the history says by now.
async fn data(State(known): State<Known>) -> Response {
    match known.documents.ask().await {
        Ok(document) => answer(JSON, document),
        Err(sentence) => {
            (StatusCode::SERVICE_UNAVAILABLE, [(RETRY_AFTER, "5")], answer(TEXT, format!("{sentence}\n")))
                .into_response()
        }
    }
}

async fn metrics(State(knowledge): State<Arc<Knowledge>>, headers: HeaderMap) -> Response {
    let form = form_for(headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()));
    let mut response = answer(form.content_type(), knowledge.metrics(form));
    response.headers_mut().insert(VARY, HeaderValue::from_static("accept"));
    response
}

fn json(document: &impl Serialize) -> Response {
    match serde_json::to_vec(document) {
        Ok(text) => answer(JSON, text),
        Err(error) => broken(&error),
    }
}

fn broken(error: &dyn std::fmt::Display) -> Response {
    let sentence = format!("this is a bug in iolag: {error}\n");
    (StatusCode::INTERNAL_SERVER_ERROR, answer(TEXT, sentence)).into_response()
}

fn answer(content_type: &'static str, body: impl IntoResponse) -> Response {
    let mut response = body.into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// Lets through what reads, and names a server that is meant; adds to every answer what browsers are to know.
async fn guard(names: Names, request: Request, next: Next) -> Response {
    let mut hosts = request.headers().get_all(HOST).iter();
    let (host, further) = (hosts.next().and_then(|host| host.to_str().ok()), hosts.next());
    // Whoever asks with a whole URL, as of a proxy, names the server there (RFC 9112, 3.2.2).
    let is_named = request.uri().authority().is_none_or(|named| is_local_name(named.as_str()));
    dressed(if further.is_some() {
        // RFC 9112, 3.2.
        (StatusCode::BAD_REQUEST, answer(TEXT, "a request has one Host header\n")).into_response()
    } else if names == Names::OfLoopback && !(host.is_some_and(is_local_name) && is_named) {
        let refused =
            "this server answers to localhost and 127.0.0.1 only; from elsewhere go through ssh -L\n";
        (StatusCode::MISDIRECTED_REQUEST, answer(TEXT, refused)).into_response()
    } else if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let refused = [(ALLOW, "GET, HEAD")];
        (StatusCode::METHOD_NOT_ALLOWED, refused, answer(TEXT, "this server is for reading\n"))
            .into_response()
    } else {
        next.run(request).await
    })
}

/// With what browsers are to know.
fn dressed(mut response: Response) -> Response {
    let policy = response.headers_mut().entry(CONTENT_SECURITY_POLICY);
    policy.or_insert(HeaderValue::from_static(POLICY));
    // What may frame a page can only be said in a header.
    response
        .headers_mut()
        .append(CONTENT_SECURITY_POLICY, HeaderValue::from_static("frame-ancestors 'none'"));
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
