//! Connections, routes and status codes; all that is said over HTTP, nothing of what is answered.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

use super::book::Book;
use super::format::Format;
use super::posted::{Form, Model, Posted};
use super::refusal::Refusal;
use super::reply::{Completion, Pace};
use super::script::{self, Question};

type Body = UnsyncBoxBody<Bytes, Infallible>;

/// A running server. Dropping it closes the port and all connections.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    accepting: AbortHandle,
}

impl Server {
    /// The base URL that a client is given: `http://127.0.0.1:PORT/v1`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// What all connections share.
struct Shared {
    books: Vec<Book>,
    pace: Pace,
    /// Completions and calls so far: their ids must not come twice, whatever is asked.
    completions: AtomicU64,
    calls: AtomicU64,
}

/// Starts the server on a free loopback port, on the current tokio runtime.
///
/// # Errors
/// No port could be opened.
pub async fn start(pace: Pace) -> io::Result<Server> {
    let books = Book::all()?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    let counter = || AtomicU64::new(0);
    let shared = Arc::new(Shared { books, pace, completions: counter(), calls: counter() });
    let accepting = tokio::spawn(accept(listener, shared)).abort_handle();
    Ok(Server { address, accepting })
}

/// Accepts connections until it is aborted, which ends them too.
async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve(stream, shared.clone()));
                }
                // Out of file descriptors, as a rule: the client waits in the queue meanwhile.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Serves one connection. When the client goes away the body of the response is dropped, and with
/// it what was still to be said; the error that reports this is the client's affair.
async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    // Without it, the pieces of a stream wait for acknowledgements; it still works then.
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| {
        let shared = shared.clone();
        async move { Ok::<_, Infallible>(respond(request, &shared).await) }
    });
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn respond(request: Request<Incoming>, shared: &Shared) -> Response<Body> {
    let format = Format::at(request.uri().path());
    let answered = match (request.method(), request.uri().path(), format) {
        (&Method::POST, _, Some(format)) => complete(format, request, shared).await,
        (&Method::GET, "/v1/models", _) => Ok(json_response(StatusCode::OK, &models())),
        (method, path, _) => Err(Refusal::no_such_route(method.as_str(), path)),
    };
    answered.unwrap_or_else(|refusal| {
        json_response(refusal.status, &refusal.body(format.unwrap_or(Format::Chat)))
    })
}

/// The models, in a form that the clients of all formats read.
fn models() -> Value {
    let model = |model: Model| {
        json!({
            "id": model.name(), "object": "model", "created": 0, "owned_by": "limpid",
            "type": "model", "display_name": model.name(), "created_at": "1970-01-01T00:00:00Z",
        })
    };
    json!({"object": "list", "data": Model::ALL.map(model), "has_more": false})
}

async fn complete(
    format: Format,
    request: Request<Incoming>,
    shared: &Shared,
) -> Result<Response<Body>, Refusal> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(|error| Refusal::cut_off(&error))?.to_bytes();
    let posted = format.read(&head.headers, &body)?;
    let completion = shared.answer(&posted, &body);
    if let Some(pause) = shared.pace.first() {
        tokio::time::sleep(pause).await;
    }
    if posted.form == Form::Whole {
        return Ok(json_response(StatusCode::OK, &format.whole(&completion)));
    }
    let events = format.events(&completion, posted.form == Form::EventsAndCounts);
    Ok(event_stream(events, shared.pace))
}

impl Shared {
    fn answer(&self, posted: &Posted, body: &[u8]) -> Completion {
        let question = Question {
            transcript: &posted.transcript,
            bash: posted.bash,
            thinks: posted.thinks,
            lenient: posted.model == Model::Lenient,
        };
        let answer = script::answer(&self.books, question);
        // The hash tells servers apart, the number the calls of one.
        let hash = fnv1a(body);
        let calls = answer.calls.iter().map(|_| {
            let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
            format!("{number}_{hash:08x}")
        });
        Completion {
            number: self.completions.fetch_add(1, Ordering::Relaxed) + 1,
            created: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_secs()),
            model: posted.model.name(),
            calls: calls.collect(),
            answer,
            tokens_in: body.len().div_ceil(4),
        }
    }
}

/// The 32-bit FNV-1a hash.
fn fnv1a(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

fn json_response(status: StatusCode, body: &Value) -> Response<Body> {
    let body = Full::new(Bytes::from(body.to_string())).boxed_unsync();
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn event_stream(events: Vec<Bytes>, pace: Pace) -> Response<Body> {
    let frames = stream::iter(events).then(move |event| async move {
        if let Some(pause) = pace.between() {
            tokio::time::sleep(pause).await;
        }
        Ok(Frame::data(event))
    });
    let mut response = Response::new(StreamBody::new(frames).boxed_unsync());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}
