//! The HTTP client: posts the parts of a request to an endpoint and hands over the answer's bytes.
//!
//! Redirects are not followed, so that a key goes only to the URL it belongs to. Nothing is tried
//! again behind the loop's back: `retry` says what may be, `agent` does it. Addresses of this machine are never reached through a proxy. What
//! an answer means, also one with an error status, is `wire`'s.

mod body;
mod endpoint;
mod failure;
mod get;
mod proxies;
pub mod retry;

pub use body::{Body, Departure};
pub use endpoint::{Endpoint, Key};
pub use proxies::Proxies;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use bytes::Bytes;
use reqwest::Url;
use tokio::sync::watch;

use crate::clock::within;
use crate::conversation::{Failure, FailureKind};
use crate::wire::ResponseHead;

/// How long to wait.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// For the connection, with TLS.
    pub connect: Duration,
    /// For the next bytes: of the answer's head, then of its body. Any byte counts, also a comment.
    pub idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), idle: Duration::from_mins(2) }
    }
}

/// When the client is made though nobody wants it yet.
const UNASKED: Duration = Duration::from_millis(500);

const USER_AGENT: &str = concat!("limpid/", env!("CARGO_PKG_VERSION"));

/// The client. Clones share its connections.
#[derive(Debug, Clone)]
pub struct Client {
    limits: Limits,
    proxies: Arc<Proxies>,
    /// Whether a server has answered: then a connection may have been kept.
    answered: Arc<AtomicBool>,
    /// Filled by the thread that makes the client.
    made: watch::Receiver<Option<Made>>,
    /// Tells that thread to make it now.
    wanted: mpsc::SyncSender<()>,
}

type Made = Result<reqwest::Client, String>;

impl Default for Client {
    fn default() -> Self {
        Self::new()
    }
}

impl Client {
    /// A client with the usual limits and the proxies of the environment. Returns at once: reading
    /// the system's certificates takes many milliseconds, and is done on a thread of its own, when
    /// it is wanted or a moment after the start, which wants the processor for itself.
    pub fn new() -> Self {
        Self::with(Limits::default(), Proxies::from_env())
    }

    /// A client with other limits and proxies.
    pub fn with(limits: Limits, proxies: Proxies) -> Self {
        let (sender, made) = watch::channel(None);
        let (wanted, is_wanted) = mpsc::sync_channel(1);
        let proxies = Arc::new(proxies);
        let used = proxies.clone();
        let thread = std::thread::Builder::new().name("http client".to_owned());
        // If there can be no thread, the sender is dropped, and the first request says so.
        let _ = thread.spawn(move || {
            if is_wanted.recv_timeout(UNASKED) != Err(RecvTimeoutError::Disconnected) {
                let _ = sender.send(Some(make(limits, &used)));
            }
        });
        Self { limits, proxies, answered: Arc::default(), made, wanted }
    }

    /// Posts the parts, one after the other, as one body of JSON, and waits for the answer's head.
    ///
    /// # Errors
    /// [`NoAnswer`] also where it was a redirect, or a proxy's. Any other status is an answer.
    pub async fn post(
        &self,
        endpoint: &Endpoint,
        body: impl Into<Body>,
    ) -> Result<Response, NoAnswer> {
        let body = body.into();
        let (url, headers) = endpoint.posting(body.bytes())?;
        let peer = self.peer(endpoint, &url);
        let http = self.http().await?;
        let request = http.post(url.clone()).headers(headers).body(body.into_reqwest());
        let inner = match within(self.limits.idle, request.send()).await {
            Some(Ok(inner)) => inner,
            Some(Err(error)) => return Err(peer.not_answered(&error).into()),
            None => return Err(peer.silent().into()),
        };
        self.answered.store(true, Ordering::Relaxed);
        Response::of(inner, peer, &url)
    }

    /// The other side, as far as messages name it.
    fn peer(&self, endpoint: &Endpoint, url: &reqwest::Url) -> failure::Peer {
        let proxy = self.proxies.on_the_way_to(url);
        failure::Peer::new(url, endpoint.named_by.clone(), self.limits, proxy)
    }

    /// Whether the next request may go over a connection that was kept from an earlier answer.
    pub fn may_have_kept_a_connection(&self) -> bool {
        self.answered.load(Ordering::Relaxed)
    }

    async fn http(&self) -> Result<reqwest::Client, Failure> {
        let failed = |why: &str| {
            let why = format!("the HTTP client cannot be made ({why}).");
            failure::nothing_sent(FailureKind::Unreachable, &why)
        };
        // It is not needed any more once the client is there.
        let _ = self.wanted.try_send(());
        let mut made = self.made.clone();
        let made = made.wait_for(Option::is_some).await;
        match made.as_deref() {
            Ok(Some(Ok(http))) => Ok(http.clone()),
            Ok(Some(Err(why))) => Err(failed(why)),
            Ok(None) | Err(_) => Err(failed("its thread ended early")),
        }
    }
}

fn make(limits: Limits, proxies: &Proxies) -> Made {
    // Fails only if there is a provider already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .user_agent(USER_AGENT)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .connect_timeout(limits.connect)
        // Those of the environment without loopback, instead of all those of the environment.
        .no_proxy();
    for proxy in proxies.build()? {
        builder = builder.proxy(proxy);
    }
    builder.build().map_err(|error| failure::innermost(&error))
}

/// Why there is no answer of the server to read.
#[derive(Debug)]
pub struct NoAnswer {
    /// What happened.
    pub failure: Failure,
    /// The head of what came instead: of a redirect, or of a proxy's answer.
    pub head: Option<ResponseHead>,
}

impl From<Failure> for NoAnswer {
    fn from(failure: Failure) -> Self {
        Self { failure, head: None }
    }
}

/// An answer whose head has come.
#[derive(Debug)]
pub struct Response {
    /// Status and headers.
    pub head: ResponseHead,
    inner: reqwest::Response,
    peer: failure::Peer,
}

impl Response {
    /// The answer of `url`, unless it is a redirect or a proxy's.
    #[expect(clippy::result_large_err, reason = "it is what `Client::post` hands on")]
    fn of(inner: reqwest::Response, peer: failure::Peer, url: &Url) -> Result<Self, NoAnswer> {
        let status = inner.status();
        let headers = inner.headers().iter().map(|(name, value)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        });
        let head = ResponseHead { status: status.as_u16(), headers: headers.collect() };
        if status.as_u16() == 407 {
            return Err(NoAnswer { failure: peer.kept_out(), head: Some(head) });
        }
        if status.is_redirection() {
            let to = head.header("location").and_then(|location| url.join(location).ok());
            let failure = peer.redirected(head.status, to.as_ref());
            return Err(NoAnswer { failure, head: Some(head) });
        }
        Ok(Self { head, inner, peer })
    }

    /// How the body is compressed, if it is. Nothing asks for that, and nothing can read it.
    pub fn compression(&self) -> Option<&str> {
        let encoding = self.head.header("content-encoding")?.trim();
        (!encoding.is_empty() && !encoding.eq_ignore_ascii_case("identity")).then_some(encoding)
    }

    /// The next bytes of the body; `None` at its end in good order.
    ///
    /// # Errors
    /// A [`Failure`] if the connection breaks, or nothing comes for the idle limit.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Failure> {
        match within(self.peer.limits.idle, self.inner.chunk()).await {
            Some(Ok(bytes)) => Ok(bytes),
            Some(Err(error)) => Err(self.peer.lost(&error, self.head.status)),
            None => Err(Failure { status: Some(self.head.status), ..self.peer.silent() }),
        }
    }
}
