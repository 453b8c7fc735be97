//! Failures of the connection in words: what happened, with which host, what was not done, and what
//! to look at next.
//!
//! `reqwest` hides the cause deep in a chain of errors; it is dug out here. No message holds a URL
//! beyond its host: the rest may hold secrets.

use std::error::Error;
use std::io;

use reqwest::Url;
use rustls::CertificateError;

use super::Limits;
use crate::conversation::{Failure, FailureKind, Place};

/// The other side of a connection, as far as messages name it.
#[derive(Debug)]
pub(super) struct Peer {
    /// Host, and the port if the URL has one.
    host: String,
    /// Host and port of the proxy on the way, if there is one.
    proxy: Option<String>,
    /// Who named the URL.
    named_by: Option<String>,
    pub(super) limits: Limits,
}

impl Peer {
    pub(super) fn new(
        url: &Url,
        named_by: Option<String>,
        limits: Limits,
        proxy: Option<String>,
    ) -> Self {
        Self { host: host(url), proxy, named_by, limits }
    }

    /// No answer came.
    pub(super) fn not_answered(&self, error: &reqwest::Error) -> Failure {
        let mut failure = self.why_not_answered(error);
        // Where not even a connection came about, the URL may be the wrong one.
        if error.is_connect()
            && self.proxy.is_none()
            && let Some(named_by) = &self.named_by
        {
            failure.message.push(' ');
            failure.message.push_str(named_by);
        }
        failure
    }

    fn why_not_answered(&self, error: &reqwest::Error) -> Failure {
        let Self { host, proxy, limits, .. } = self;
        let through = proxy.as_ref().map(|proxy| format!(" through the proxy {proxy}"));
        let through = through.unwrap_or_default();
        if is_no_http(error) {
            let why = innermost(error);
            return no_http(format!(
                "what came from {host}{through} is no HTTP that can be read ({why}). {SAME_AGAIN}"
            ));
        }
        if !error.is_connect() {
            let why = innermost(error);
            return disconnected(format!(
                "the connection to {host}{through} was lost before an answer came ({why}). The server \
                may have read the messages."
            ));
        }
        let cause = if error.is_timeout() { Cause::Silence } else { Cause::of(error) };
        let nothing = "Nothing was sent to the model.";
        let secure = |why: &str, hint: &str| {
            unreachable(format!(
                "no secure connection to {host}{through} ({why}). {nothing} {hint}"
            ))
        };
        // Up to the tunnel, it is the proxy that is spoken to.
        let (to, check) = match proxy {
            Some(proxy) => (format!("the proxy {proxy} on the way to {host}"), PROXY_HINT),
            None => (host.clone(), "Check the URL and the network."),
        };
        match cause {
            Cause::Refused => {
                let hint = match proxy {
                    Some(_) => PROXY_HINT,
                    None => "Is the server running? Check the port in the URL.",
                };
                let why = "connection refused";
                unreachable(format!("cannot connect to {to} ({why}). {nothing} {hint}"))
            }
            Cause::Silence => {
                let seconds = limits.connect.as_secs_f32();
                let why = format!("no answer within {seconds} s");
                unreachable(format!("cannot connect to {to} ({why}). {nothing} {check}"))
            }
            Cause::Name(why) => {
                let (what, hint) = match proxy {
                    Some(_) => (to, check),
                    None => {
                        (format!("the host {host}"), "Check the host in the URL, and the network.")
                    }
                };
                unreachable(format!("cannot find {what} ({why}). {nothing} {hint}"))
            }
            Cause::KeptOut => self.kept_out(),
            Cause::NoTunnel => {
                unreachable(format!("cannot connect to {host}: {to} refuses. {nothing} {check}"))
            }
            Cause::NotTls => {
                secure("it does not speak TLS", "Does the URL have to begin with http://?")
            }
            Cause::Certificate(why) => {
                let hint = match why {
                    Distrust::Issuer => {
                        " For a private certificate authority, name its file in SSL_CERT_FILE."
                    }
                    Distrust::Time => " Is this machine's clock right?",
                    Distrust::Other(_) => "",
                };
                let why = why.words();
                unreachable(format!(
                    "certificate of {host}{through} not trusted: {why}. {nothing}{hint}"
                ))
            }
            Cause::Tls(why) => secure(&why, "Check the URL."),
            Cause::Other(why) => {
                unreachable(format!("cannot connect to {to} ({why}). {nothing} {check}"))
            }
        }
    }

    /// The proxy answers 407.
    pub(super) fn kept_out(&self) -> Failure {
        let proxy = self.proxy.as_deref().unwrap_or("that it did not name");
        let message = format!(
            "HTTP 407: the proxy {proxy} asks for a user name and a password, or does not accept those \
            it got. Nothing reached {}. Put them in the proxy's variable: http://NAME:PASSWORD@HOST.",
            self.host
        );
        Failure { status: Some(407), ..unreachable(message) }
    }

    /// The connection broke within the answer's body.
    pub(super) fn lost(&self, error: &reqwest::Error, status: u16) -> Failure {
        let (why, host) = (innermost(error), &self.host);
        let failure = if is_no_http(error) {
            no_http(format!(
                "the answer of {host} cannot be read on: its HTTP is broken ({why}). {SAME_AGAIN}"
            ))
        } else {
            disconnected(format!("the connection to {host} was lost in mid-answer ({why})."))
        };
        Failure { status: Some(status), ..failure }
    }

    /// Nothing came for the idle limit.
    pub(super) fn silent(&self) -> Failure {
        let seconds = self.limits.idle.as_secs_f32();
        unreachable(format!(
            "no data from {} for {seconds} s; the connection was closed. Is the server stuck?",
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

fn no_http(message: String) -> Failure {
    Failure::new(Place::Transport, FailureKind::Malformed, message)
}

fn unreachable(message: String) -> Failure {
    Failure::new(Place::Transport, FailureKind::Unreachable, message)
}

/// Why what cannot be read is not asked for anew.
const SAME_AGAIN: &str = "Not tried again: it would be the same.";

const PROXY_HINT: &str =
    "Check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY, or except the host in NO_PROXY.";

fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Why there is no connection.
enum Cause {
    Refused,
    /// Nothing came within the limit.
    Silence,
    Name(String),
    /// The proxy wants to know who it is.
    KeptOut,
    /// The proxy did not reach the server.
    NoTunnel,
    /// The bytes that came are no TLS.
    NotTls,
    Certificate(Distrust),
    Tls(String),
    Other(String),
}

/// Why a certificate is not trusted.
enum Distrust {
    Issuer,
    Time,
    Other(String),
}

impl Distrust {
    fn of(error: &CertificateError) -> Self {
        match error {
            // The last two: an issuer of that name is trusted, but did not sign this.
            CertificateError::UnknownIssuer
            | CertificateError::BadSignature
            | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
                Self::Issuer
            }
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. } => Self::Time,
            // webpki says so of a certificate that vouches for itself.
            CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => {
                Self::Issuer
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                Self::Other("it is for another host".to_owned())
            }
            other => Self::Other(other.to_string()),
        }
    }

    fn words(&self) -> &str {
        match self {
            Self::Issuer => "nobody that this machine trusts vouches for it",
            Self::Time => "it has expired, or is not valid yet",
            Self::Other(why) => why,
        }
    }
}

impl Cause {
    fn of(error: &(dyn Error + 'static)) -> Self {
        for error in chain(error) {
            // hyper-util says these in such words and keeps the resolver's error inside.
            match &*error.to_string() {
                "dns error" => return Self::Name(innermost(error)),
                "tunnel error: proxy authorization required" => return Self::KeptOut,
                "tunnel error: unsuccessful" | "tunnel error: unexpected end of file" => {
                    return Self::NoTunnel;
                }
                _ => {}
            }
            if let Some(tls) = error.downcast_ref::<rustls::Error>() {
                return match tls {
                    rustls::Error::InvalidMessage(_) => Self::NotTls,
                    rustls::Error::InvalidCertificate(why) => Self::Certificate(Distrust::of(why)),
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

/// Whether the bytes that came break the rules of HTTP: those of the head, or of a body in chunks.
fn is_no_http(error: &(dyn Error + 'static)) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput};
    // Bytes that were spoiled on a secure way are not the server's.
    if chain(error).any(<dyn Error>::is::<rustls::Error>) {
        return false;
    }
    chain(error).any(|error| {
        error.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_parse)
            || error
                .downcast_ref::<io::Error>()
                .is_some_and(|io| matches!(io.kind(), InvalidData | InvalidInput))
    })
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
