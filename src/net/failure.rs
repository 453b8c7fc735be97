//! Failures of the connection in words: what happened, with which host, what was not done, and what
//! to look at next.
//!
//! `reqwest` hides the cause deep in a chain of errors; it is dug out here. No message holds a URL
//! beyond its host: the rest may hold secrets.

use std::error::Error;
use std::io;

use reqwest::Url;

use super::Limits;
use crate::conversation::{Failure, FailureKind, Place};

/// The other side of a connection, as far as messages name it.
#[derive(Debug)]
pub(super) struct Peer {
    /// Host, and the port if the URL has one.
    host: String,
    pub(super) limits: Limits,
}

impl Peer {
    pub(super) fn new(url: &Url, limits: Limits) -> Self {
        Self { host: host(url), limits }
    }

    /// No answer came.
    pub(super) fn not_answered(&self, error: &reqwest::Error, has_proxy: bool) -> Failure {
        let host = &self.host;
        if !error.is_connect() {
            let why = innermost(error);
            return disconnected(format!(
                "the connection to {host} was lost before an answer came ({why}). The server may have \
                read the messages."
            ));
        }
        let proxy = if has_proxy { " A proxy is set in the environment." } else { "" };
        let (what, why, hint) = match Cause::of(error) {
            _ if error.is_timeout() => {
                let seconds = self.limits.connect.as_secs_f32();
                let why = format!("no answer within {seconds} s");
                ("cannot connect to", why, "Check the URL and the network.")
            }
            Cause::Refused => {
                let hint = "Is the server running? Check the port in the URL.";
                ("cannot connect to", "connection refused".to_owned(), hint)
            }
            Cause::Name(why) => {
                ("cannot find the host", why, "Check the host in the URL, and the network.")
            }
            Cause::NotTls => {
                let why = "it does not speak TLS".to_owned();
                ("no secure connection to", why, "Does the URL have to begin with http://?")
            }
            Cause::Tls(why) => {
                let hint = "For a private certificate authority set SSL_CERT_FILE.";
                ("no secure connection to", why, hint)
            }
            Cause::Other(why) => ("cannot connect to", why, "Check the URL and the network."),
        };
        disconnected(format!("{what} {host} ({why}). Nothing was sent to the model. {hint}{proxy}"))
    }

    /// The connection broke within the answer's body.
    pub(super) fn lost(&self, error: &reqwest::Error, status: u16) -> Failure {
        let why = innermost(error);
        let message = format!("the connection to {} was lost in mid-answer ({why}).", self.host);
        Failure { status: Some(status), ..disconnected(message) }
    }

    /// Nothing came for the idle limit.
    pub(super) fn silent(&self) -> Failure {
        let seconds = self.limits.idle.as_secs_f32();
        disconnected(format!(
            "no data from {} for {seconds} s; the connection was closed.",
            self.host
        ))
    }

    /// The answer is a redirect.
    pub(super) fn redirected(&self, status: u16, to: Option<&Url>) -> Failure {
        let to = to.map_or_else(|| "an unnamed place".to_owned(), host);
        let message = format!(
            "{} redirected to {to}; not followed, key not sent. If you trust it, give its URL.",
            self.host
        );
        Failure {
            status: Some(status),
            ..Failure::new(Place::Http, FailureKind::NotFound, message)
        }
    }
}

/// What keeps a request from being posted at all.
pub(super) fn nothing_sent(kind: FailureKind, why: &str) -> Failure {
    Failure::new(Place::Transport, kind, format!("{why} Nothing was sent."))
}

fn disconnected(message: String) -> Failure {
    Failure::new(Place::Transport, FailureKind::Disconnected, message)
}

fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Why there is no connection.
enum Cause {
    Refused,
    Name(String),
    /// The bytes that came are no TLS.
    NotTls,
    Tls(String),
    Other(String),
}

impl Cause {
    fn of(error: &(dyn Error + 'static)) -> Self {
        for error in chain(error) {
            // hyper-util's connector says it in these words and keeps the resolver's error inside.
            if error.to_string() == "dns error" {
                return Self::Name(innermost(error));
            }
            if let Some(tls) = error.downcast_ref::<rustls::Error>() {
                return match tls {
                    rustls::Error::InvalidMessage(_) => Self::NotTls,
                    other => Self::Tls(other.to_string()),
                };
            }
            let io = error.downcast_ref::<io::Error>().map(io::Error::kind);
            if io == Some(io::ErrorKind::ConnectionRefused) {
                return Self::Refused;
            }
        }
        Self::Other(innermost(error))
    }
}

/// An error and all that caused it, outermost first. An `io::Error` around another error does not
/// name that as its source, so it is looked into.
fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error: &&'a (dyn Error + 'static)| {
        let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        match inner {
            Some(inner) => Some(inner as &(dyn Error + 'static)),
            None => error.source(),
        }
    })
}

/// The words of the first cause: those around it only say that something went wrong.
pub(super) fn innermost(error: &(dyn Error + 'static)) -> String {
    let kinds = chain(error).filter_map(|error| error.downcast_ref::<io::Error>());
    for kind in kinds.map(io::Error::kind) {
        match kind {
            io::ErrorKind::ConnectionReset => return "connection reset by the server".to_owned(),
            io::ErrorKind::UnexpectedEof => return "closed by the server".to_owned(),
            _ => {}
        }
    }
    chain(error).last().unwrap_or(error).to_string()
}
