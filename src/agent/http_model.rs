//! A model behind HTTP: posts a request, reads the reply from its stream, and posts once more where
//! `net::retry` says so. Every attempt is recorded.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, Instant, SystemTime};

use time::OffsetDateTime;
use time::macros::format_description;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument as _, info_span};

use super::looper::Model;
use super::recorder::{self, Recorder};
use super::redaction::Watch;
use crate::conversation::{
    Failure, FailureKind, Place, Progress, Record, Repair, Reply, Response, TurnNumber,
};
use crate::net::retry::{self, Stop, Verdict};
use crate::net::{self, Client, Departure, Endpoint, NoAnswer};
use crate::text::{self, Secrets};
use crate::wire::{Decoder, End, Format, Request};

/// Posts to one endpoint in one format.
#[derive(Debug)]
pub struct HttpModel {
    client: Client,
    endpoint: Endpoint,
    format: Format,
    /// Keys that are kept out of what the server sends.
    secrets: Secrets,
}

impl HttpModel {
    /// A model at this endpoint.
    pub fn new(client: Client, endpoint: Endpoint, format: Format) -> Self {
        Self { client, endpoint, format, secrets: Secrets::default() }
    }

    /// Keeps these keys out of whatever the server sends.
    #[must_use]
    pub fn without(self, secrets: Secrets) -> Self {
        Self { secrets, ..self }
    }
}

impl Model for HttpModel {
    async fn ask(
        &mut self,
        turn: TurnNumber,
        request: &Request,
        recorder: &mut Recorder,
        stop: &CancellationToken,
    ) -> Reply {
        let mut number = 1;
        loop {
            let kept_alive = self.client.may_have_kept_a_connection();
            let Attempted { reply, shown, should_retry } = self
                .attempt(turn, number, request, recorder, stop)
                .instrument(info_span!("attempt", number))
                .await;
            let Some(failure) = reply.failure.as_ref().filter(|_| !reply.stopped) else {
                return reply;
            };
            let attempt = retry::Attempt {
                number,
                failure,
                shown,
                kept_alive,
                should_retry: should_retry.as_deref(),
            };
            match retry::judge(attempt, chance(), SystemTime::now()) {
                Verdict::Retry(wait) => {
                    // Those of the last attempt come with its reply.
                    for repair in reply.repairs.iter().cloned() {
                        recorder.record(Record::Repair { turn, repair }).await;
                    }
                    if !wait_for(wait, number + 1, failure, recorder, stop).await {
                        return Reply { stopped: true, ..Reply::default() };
                    }
                    number += 1;
                }
                Verdict::Stop(why) => {
                    if let Some(notice) = notice(why) {
                        recorder.progress(Progress::Notice(notice)).await;
                    }
                    return reply;
                }
            }
        }
    }
}

/// An attempt that is over.
struct Attempted {
    reply: Reply,
    /// Whether anything of the answer was shown.
    shown: bool,
    /// The `x-should-retry` header.
    should_retry: Option<String>,
}

/// Waits before the next attempt, so that the user sees it; a wait of nothing is not worth a word.
/// Returns whether to go on.
async fn wait_for(
    wait: Duration,
    attempt: u32,
    failure: &Failure,
    recorder: &mut Recorder,
    stop: &CancellationToken,
) -> bool {
    if !wait.is_zero() {
        let ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        let until = recorder::now_ms().saturating_add(ms);
        let (of, why) = (retry::ATTEMPTS, failure.cause());
        recorder.progress(Progress::Waiting { attempt, of, until, ms, why }).await;
    }
    tokio::select! {
        biased;
        () = stop.cancelled() => false,
        () = tokio::time::sleep(wait) => true,
    }
}

/// A number from 0 up to 1 that spreads the waits of many clients.
fn chance() -> f64 {
    let random = RandomState::new().build_hasher().finish();
    f64::from(u32::try_from(random >> 32).unwrap_or_default()) / f64::from(u32::MAX)
}

impl HttpModel {
    /// Posts the request once, and records it.
    async fn attempt(
        &self,
        turn: TurnNumber,
        attempt: u32,
        request: &Request,
        recorder: &mut Recorder,
        stop: &CancellationToken,
    ) -> Attempted {
        // What keeps it from being posted, the client says.
        let head = self.endpoint.head(request.bytes).ok();
        recorder.record(Record::Attempt { turn, attempt, head }).await;
        let body = net::Body::from(request.parts.clone());
        let mut exchange = Exchange::begin(turn, attempt, body.departure());
        let mut watch = Watch::new(&self.secrets);
        let posted = tokio::select! {
            biased;
            () = stop.cancelled() => None,
            posted = self.client.post(&self.endpoint, body) => Some(posted),
        };
        let mut should_retry = None;
        let mut reply = match posted {
            None => Reply { stopped: true, ..Reply::default() },
            Some(Err(NoAnswer { failure, head })) => {
                exchange.status = failure.status;
                if let Some(mut head) = head {
                    watch.head(&mut head);
                    exchange.headers = head.headers;
                }
                Reply { failure: Some(failure), ..Reply::default() }
            }
            Some(Ok(mut response)) => {
                watch.head(&mut response.head);
                should_retry = response.head.header("x-should-retry").map(str::to_owned);
                self.read(response, &mut exchange, &mut watch, recorder, stop).await
            }
        };
        watch.reply(&mut reply);
        if watch.has_found() {
            let what = "key redacted: the response held a key of yours".to_owned();
            let repair = Repair { what, at: None };
            recorder.record(Record::Repair { turn, repair }).await;
        }
        reply.failure = reply.failure.map(|failure| self.with_host(failure));
        let shown = exchange.shown || !reply.content.is_empty();
        recorder.record(Record::Response(exchange.end(&reply))).await;
        Attempted { reply, shown, should_retry }
    }

    /// Decoders do not know whom they read.
    fn with_host(&self, mut failure: Failure) -> Failure {
        let host = self.endpoint.host().unwrap_or_default();
        let message = &failure.message;
        failure.message = match (failure.place, failure.kind) {
            (Place::Transport, _) => return failure,
            (Place::Http, FailureKind::Auth) if self.endpoint.key.is_none() => {
                format!("{host} asks for a key (none was sent): {message}")
            }
            (Place::Http, FailureKind::Auth) => format!("key rejected by {host}: {message}"),
            (_, FailureKind::Malformed | FailureKind::Protocol | FailureKind::TooLong) => {
                format!("{host}: {message}")
            }
            _ => return failure,
        };
        failure
    }

    /// Reads the response to its end, to the reply's end mark, or until it is stopped.
    async fn read(
        &self,
        mut response: net::Response,
        exchange: &mut Exchange,
        watch: &mut Watch,
        recorder: &mut Recorder,
        stop: &CancellationToken,
    ) -> Reply {
        exchange.status = Some(response.head.status);
        exchange.headers.clone_from(&response.head.headers);
        recorder.begin_exchange(exchange.turn, exchange.attempt, &response.head).await;
        let mut decoder = Decoder::new(self.format, &response.head);
        if let Some(compression) = response.compression() {
            return compressed(compression, decoder.finish(End::Eof), response.head.status);
        }
        let end = loop {
            let chunk = tokio::select! {
                biased;
                () = stop.cancelled() => break End::Stopped,
                chunk = response.chunk() => chunk,
            };
            match chunk {
                Ok(Some(bytes)) => {
                    exchange.count(bytes.len());
                    let bytes = watch.bytes(&bytes);
                    recorder.exchange_bytes(&bytes, exchange.elapsed_ms()).await;
                    for progress in decoder.feed(&bytes) {
                        exchange.shown = true;
                        for progress in watch.progress(progress) {
                            recorder.progress(progress).await;
                        }
                    }
                    if decoder.is_done() {
                        break End::Eof;
                    }
                }
                Ok(None) => break End::Eof,
                Err(failure) => break End::Broken(failure),
            }
        };
        let last = watch.last_bytes();
        if !last.is_empty() {
            recorder.exchange_bytes(&last, exchange.elapsed_ms()).await;
        }
        let shown = decoder.feed(&last).into_iter().flat_map(|progress| watch.progress(progress));
        let shown: Vec<Progress> = shown.collect();
        for progress in shown.into_iter().chain(watch.end()) {
            recorder.progress(progress).await;
        }
        decoder.finish(end)
    }
}

/// What the user should know beside the failure itself.
fn notice(why: Stop) -> Option<String> {
    match why {
        Stop::Lasting | Stop::Shown => None,
        Stop::ServerSaysNo => {
            Some("Not tried again: the server says that it would fail again.".to_owned())
        }
        Stop::TooOften => Some(format!("Given up after {} attempts.", retry::ATTEMPTS)),
        Stop::TooLong(wait) => {
            let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            let until = OffsetDateTime::now_utc() + wait;
            let format = format_description!("[year]-[month]-[day] [hour]:[minute] UTC");
            let until = until.format(format).unwrap_or_default();
            let wait = text::duration(wait_ms);
            Some(format!("Not tried again: the server asks to wait {wait}, until {until}."))
        }
    }
}

/// The reply of a server that compresses without being asked. What kind of failure it is, an error
/// status still says.
fn compressed(compression: &str, reply: Reply, status: u16) -> Reply {
    let message = format!(
        "an answer compressed with {compression}, though none was asked for; it was not read. Turn \
        compression off at the server, or at the proxy before it."
    );
    let failure = match reply.failure {
        Some(failure) if status != 200 => Failure { message, ..failure },
        _ => Failure {
            status: Some(status),
            ..Failure::new(Place::Body, FailureKind::Malformed, message)
        },
    };
    Reply { failure: Some(failure), ..Reply::default() }
}

/// What is measured of one attempt.
struct Exchange {
    turn: TurnNumber,
    attempt: u32,
    began: Instant,
    departure: Departure,
    status: Option<u16>,
    headers: Vec<(String, String)>,
    first_byte_ms: Option<u64>,
    bytes: u64,
    /// Whether anything of it was shown.
    shown: bool,
}

impl Exchange {
    fn begin(turn: TurnNumber, attempt: u32, departure: Departure) -> Self {
        Self {
            turn,
            attempt,
            began: Instant::now(),
            departure,
            status: None,
            headers: Vec::new(),
            first_byte_ms: None,
            bytes: 0,
            shown: false,
        }
    }

    fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn count(&mut self, bytes: usize) {
        if self.first_byte_ms.is_none() {
            self.first_byte_ms = Some(self.elapsed_ms());
        }
        self.bytes += bytes as u64;
    }

    fn end(self, reply: &Reply) -> Response {
        Response {
            turn: self.turn,
            attempt: self.attempt,
            sent: self.departure.has_begun(),
            status: self.status,
            end_ms: self.elapsed_ms(),
            headers: self.headers,
            first_byte_ms: self.first_byte_ms,
            bytes: self.bytes,
            stop_reason: reply.stop_reason.clone(),
            usage: reply.usage,
            failure: reply.failure.clone(),
            stopped: reply.stopped,
        }
    }
}
