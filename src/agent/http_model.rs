//! A model behind HTTP: one attempt to post a request, and the reply read from its stream.

use std::time::Instant;

use tokio_util::sync::CancellationToken;

use super::looper::Model;
use super::recorder::Recorder;
use crate::conversation::{Record, Reply, Response, TurnNumber};
use crate::net::{self, Client, Endpoint};
use crate::wire::{Decoder, End, Format, Request};

/// Posts to one endpoint in one format.
#[derive(Debug)]
pub struct HttpModel {
    client: Client,
    endpoint: Endpoint,
    format: Format,
}

impl HttpModel {
    /// A model at this endpoint.
    pub fn new(client: Client, endpoint: Endpoint, format: Format) -> Self {
        Self { client, endpoint, format }
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
        let attempt = 1;
        recorder.record(Record::Attempt { turn, attempt }).await;
        let mut exchange = Exchange::begin(turn, attempt);
        let posted = tokio::select! {
            biased;
            () = stop.cancelled() => None,
            posted = self.client.post(&self.endpoint, request.parts.clone()) => Some(posted),
        };
        let reply = match posted {
            None => Reply { stopped: true, ..Reply::default() },
            Some(Err(failure)) => {
                exchange.status = failure.status;
                Reply { failure: Some(failure), ..Reply::default() }
            }
            Some(Ok(response)) => self.read(response, &mut exchange, recorder, stop).await,
        };
        recorder.record(Record::Response(exchange.end(&reply))).await;
        reply
    }
}

impl HttpModel {
    /// Reads the response to its end, to the reply's end mark, or until it is stopped.
    async fn read(
        &self,
        mut response: net::Response,
        exchange: &mut Exchange,
        recorder: &mut Recorder,
        stop: &CancellationToken,
    ) -> Reply {
        exchange.status = Some(response.head.status);
        recorder.begin_exchange(exchange.turn, exchange.attempt, &response.head).await;
        let mut decoder = Decoder::new(self.format, &response.head);
        let end = loop {
            let chunk = tokio::select! {
                biased;
                () = stop.cancelled() => break End::Stopped,
                chunk = response.chunk() => chunk,
            };
            match chunk {
                Ok(Some(bytes)) => {
                    exchange.count(bytes.len());
                    recorder.exchange_bytes(&bytes).await;
                    for progress in decoder.feed(&bytes) {
                        recorder.progress(progress).await;
                    }
                    if decoder.is_done() {
                        break End::Eof;
                    }
                }
                Ok(None) => break End::Eof,
                Err(failure) => break End::Broken(failure),
            }
        };
        decoder.finish(end)
    }
}

/// What is measured of one attempt.
struct Exchange {
    turn: TurnNumber,
    attempt: u32,
    began: Instant,
    status: Option<u16>,
    first_byte_ms: Option<u64>,
    bytes: u64,
}

impl Exchange {
    fn begin(turn: TurnNumber, attempt: u32) -> Self {
        Self { turn, attempt, began: Instant::now(), status: None, first_byte_ms: None, bytes: 0 }
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
            status: self.status,
            first_byte_ms: self.first_byte_ms,
            end_ms: self.elapsed_ms(),
            bytes: self.bytes,
            stop_reason: reply.stop_reason.clone(),
            usage: reply.usage,
            failure: reply.failure.clone(),
            stopped: reply.stopped,
        }
    }
}
