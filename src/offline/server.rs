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
use super::posted::{Model, Posted};
use super::refusal::Refusal;
use super::script::{self, Question};
use super::stream::{Completion, Pace};
use super::validate;

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
    let answered = match (request.method(), request.uri().path()) {
        (&Method::POST, "/v1/chat/completions") => complete(request, shared).await,
        (&Method::GET, "/v1/models") => Ok(json_response(StatusCode::OK, &models())),
        (method, path) => Err(Refusal::no_such_route(method.as_str(), path)),
    };
    answered.unwrap_or_else(|refusal| json_response(refusal.status, &refusal.body()))
}

fn models() -> Value {
    let model = |model: Model| json!({"id": model.name(), "object": "model", "created": 0, "owned_by": "limpid"});
    json!({"object": "list", "data": Model::ALL.map(model)})
}

async fn complete(request: Request<Incoming>, shared: &Shared) -> Result<Response<Body>, Refusal> {
    let body = request.into_body().collect().await;
    let body = body.map_err(|error| Refusal::cut_off(&error))?.to_bytes();
    let posted = Posted::read(&body)?;
    if posted.model == Model::Strict {
        validate::messages(&posted.messages)?;
        posted.tools.as_ref().map_or(Ok(()), validate::tools)?;
    }
    let completion = shared.answer(&posted, &body);
    if let Some(pause) = shared.pace.first() {
        tokio::time::sleep(pause).await;
    }
    if posted.stream {
        return Ok(event_stream(completion.events(posted.include_usage), shared.pace));
    }
    Ok(json_response(StatusCode::OK, &completion.whole()))
}

impl Shared {
    fn answer(&self, posted: &Posted, body: &[u8]) -> Completion {
        let question = Question {
            messages: &posted.messages,
            bash: posted.offers("bash"),
            lenient: posted.model == Model::Lenient,
        };
        let answer = script::answer(&self.books, question);
        // The hash tells servers apart, the number the calls of one.
        let hash = fnv1a(body);
        let call_ids = answer.calls.iter().map(|_| {
            let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
            format!("call_{number}_{hash:08x}")
        });
        let number = self.completions.fetch_add(1, Ordering::Relaxed) + 1;
        Completion {
            id: format!("chatcmpl-offline-{number}"),
            created: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_secs()),
            model: posted.model.name(),
            call_ids: call_ids.collect(),
            answer,
            prompt_tokens: body.len().div_ceil(4),
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
