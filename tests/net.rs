//! The HTTP client against raw sockets: the bytes that it sends, and what it makes of every way in
//! which an answer can fail to come.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use limpid::conversation::{Failure, FailureKind, Origin, Part, Place, Reply, Slot};
use limpid::net::{Client, Endpoint, Key, Limits, Proxies};
use limpid::wire::{Auth, Decoder, End, Format};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
const CHUNK: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel\"}}]}\n\n";

/// A server on a loopback port. Each connection is handed to `serve` with its number; the first
/// request of each is told.
fn server(
    serve: impl Fn(usize, TcpStream) + Send + 'static,
) -> (SocketAddr, Receiver<(usize, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, requests) = sync_channel(16);
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            let request = read_request(&mut stream);
            if sender.send((number, request)).is_err() {
                return;
            }
            serve(number, stream);
        }
    });
    (address, requests)
}

/// Reads a head and as many bytes as its content-length says; what is there if the peer closes.
fn read_request(stream: &mut TcpStream) -> Vec<u8> {
    let mut request = Vec::new();
    let mut buffer = vec![0; 65536];
    loop {
        if let Some(end) = request.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&request[..end]).to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if request.len() >= end + 4 + length.map_or(0, |length| length.parse().unwrap()) {
                return request;
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return request,
            Ok(n) => request.extend_from_slice(&buffer[..n]),
        }
    }
}

fn answering(answer: String) -> (SocketAddr, Receiver<(usize, Vec<u8>)>) {
    server(move |_, mut stream| stream.write_all(answer.as_bytes()).unwrap())
}

fn parts(texts: &[&str]) -> Vec<Arc<Part>> {
    let part = |text: &&str| Part {
        origin: Origin::Envelope,
        entry: None,
        slot: Slot::Envelope,
        text: Arc::from(*text),
    };
    texts.iter().map(part).map(Arc::new).collect()
}

fn endpoint(url: String) -> Endpoint {
    Endpoint {
        url,
        path: "/chat/completions",
        auth: Auth::Bearer,
        key: Some(Key::new("sk-very-secret")),
        named_by: None,
    }
}

fn quick() -> Client {
    let limits = Limits { connect: Duration::from_secs(5), idle: Duration::from_millis(300) };
    Client::with(limits, Proxies::default())
}

/// Posts, reads to the end, decodes.
async fn exchange(client: &Client, url: String) -> Result<Reply, Failure> {
    let mut response =
        client.post(&endpoint(url), parts(&["{}"])).await.map_err(|none| none.failure)?;
    let mut decoder = Decoder::new(Format::OpenaiChat, &response.head);
    let end = loop {
        match response.chunk().await {
            Ok(Some(bytes)) => drop(decoder.feed(&bytes)),
            Ok(None) => break End::Eof,
            Err(failure) => break End::Broken(failure),
        }
    };
    Ok(decoder.finish(end))
}

fn assert_failure(failure: &Failure, kind: FailureKind, words: &[&str]) {
    assert_eq!(failure.kind, kind, "{failure:?}");
    for words in words {
        assert!(failure.message.contains(words), "{words:?} is not in {:?}", failure.message);
    }
    assert!(!failure.message.contains("secret"), "{failure:?}");
}

#[tokio::test]
async fn the_body_is_the_parts_with_their_length() {
    let (address, requests) = answering(format!("{OK}content-length: 0\r\n\r\n"));
    let long = "é".repeat(400_000);
    let texts = ["{\"messages\":[", "", "\"Grüße 🎉\"", ",\"", &long, "\"]}"];
    let endpoint = endpoint(format!("http://{address}/v1/"));
    assert!(!format!("{endpoint:?}").contains("secret"));
    Client::new().post(&endpoint, parts(&texts)).await.unwrap();

    let (_, request) = requests.recv().unwrap();
    let split = request.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    let head = String::from_utf8(request[..split].to_vec()).unwrap();
    let body = texts.concat();
    assert_eq!(request[split + 4..], *body.as_bytes());
    let mut lines: Vec<_> = head.split("\r\n").map(str::to_owned).collect();
    assert_eq!(lines.remove(0), "POST /v1/chat/completions HTTP/1.1");
    lines.sort_unstable();
    let expected = [
        "accept: text/event-stream".to_owned(),
        "authorization: Bearer sk-very-secret".to_owned(),
        format!("content-length: {}", body.len()),
        "content-type: application/json".to_owned(),
        format!("host: {address}"),
        format!("user-agent: limpid/{}", env!("CARGO_PKG_VERSION")),
    ];
    assert_eq!(lines, expected);
}

#[tokio::test]
async fn without_a_key_there_is_no_authorization() {
    let (address, requests) = answering(format!("{OK}content-length: 0\r\n\r\n"));
    let endpoint = Endpoint {
        url: format!("http://{address}"),
        path: "/chat/completions",
        auth: Auth::Bearer,
        key: None,
        named_by: None,
    };
    Client::new().post(&endpoint, parts(&["{}"])).await.unwrap();
    let (_, request) = requests.recv().unwrap();
    assert!(!String::from_utf8(request).unwrap().to_lowercase().contains("authorization"));
}

#[tokio::test]
async fn a_stream_arrives_as_it_is_sent_and_the_connection_is_used_again() {
    let (address, requests) = server(|_, mut stream| {
        for _ in 0..2 {
            let size = CHUNK.len();
            write!(stream, "{OK}transfer-encoding: chunked\r\n\r\n{size:x}\r\n{CHUNK}\r\n")
                .unwrap();
            write!(stream, "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n").unwrap();
            read_request(&mut stream);
        }
    });
    let client = Client::new();
    for _ in 0..2 {
        let reply = exchange(&client, format!("http://{address}")).await.unwrap();
        assert_eq!((&*reply.text(), &reply.failure, reply.terminator), ("Hel", &None, true));
    }
    assert_eq!(requests.recv().unwrap().0, 0);
    assert!(requests.try_recv().is_err(), "the second request made a connection of its own");
}

#[tokio::test]
async fn an_error_status_is_an_answer() {
    let body = r#"{"error":{"message":"Incorrect API key","code":"invalid_api_key"}}"#;
    let head = "HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\nRetry-After: 7\r\n";
    let (address, _requests) =
        answering(format!("{head}content-length: {}\r\n\r\n{body}", body.len()));
    let reply = exchange(&Client::new(), format!("http://{address}")).await.unwrap();
    let failure = reply.failure.unwrap();
    assert_failure(&failure, FailureKind::Auth, &["Incorrect API key"]);
    assert_eq!((failure.status, failure.retry_after.as_deref()), (Some(401), Some("7")));
}

#[tokio::test]
async fn a_page_with_status_200_is_no_reply() {
    let body = "<html>log in</html>";
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\n";
    let (address, _requests) =
        answering(format!("{head}content-length: {}\r\n\r\n{body}", body.len()));
    let reply = exchange(&Client::new(), format!("http://{address}")).await.unwrap();
    let words = ["Unexpected reply (text/html)", "<html>log in</html>"];
    assert_failure(&reply.failure.unwrap(), FailureKind::Malformed, &words);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let (other, other_requests) = answering(format!("{OK}content-length: 0\r\n\r\n"));
    for status in ["301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let location = format!("http://user:secret@{other}/elsewhere?secret");
        let (address, _requests) = answering(format!(
            "HTTP/1.1 {status}\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n"
        ));
        let failure = exchange(&Client::new(), format!("http://{address}")).await.unwrap_err();
        let words = [&*format!("redirected to {other}"), "not followed, key not sent"];
        assert_failure(&failure, FailureKind::NotFound, &words);
        assert_eq!((failure.place, failure.status), (Place::Http, status[..3].parse().ok()));
    }
    assert!(other_requests.try_recv().is_err());
}

#[tokio::test]
async fn anthropic_gets_its_own_headers_and_a_redirect_does_not() {
    let (address, requests) = answering(format!("{OK}content-length: 0\r\n\r\n"));
    let format = Format::Anthropic;
    let key = Some(Key::new("sk-very-secret"));
    let at = |address, key| Endpoint {
        url: format!("http://{address}/v1"),
        path: format.path(),
        auth: format.auth(),
        key,
        named_by: None,
    };
    for (key, named) in [(key.clone(), true), (None, false)] {
        Client::new().post(&at(address, key), parts(&["{}"])).await.unwrap();
        let head = String::from_utf8(requests.recv().unwrap().1).unwrap();
        assert!(head.starts_with("POST /v1/messages HTTP/1.1\r\n"), "{head}");
        assert!(head.contains("\r\nanthropic-version: 2023-06-01\r\n"), "{head}");
        assert_eq!(head.contains("\r\nx-api-key: sk-very-secret\r\n"), named, "{head}");
        assert!(!head.contains("authorization"), "{head}");
    }

    let (other, other_requests) = answering(format!("{OK}content-length: 0\r\n\r\n"));
    let (address, _requests) = answering(format!(
        "HTTP/1.1 307 Temporary Redirect\r\nlocation: http://{other}/\r\ncontent-length: 0\r\n\r\n"
    ));
    let failure = Client::new().post(&at(address, key), parts(&["{}"])).await.unwrap_err().failure;
    assert_failure(&failure, FailureKind::NotFound, &["not followed, key not sent"]);
    assert!(other_requests.try_recv().is_err());
}

#[tokio::test]
async fn causes_of_no_connection_are_told_apart() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let failure = exchange(&quick(), format!("http://{free}/v1?secret")).await.unwrap_err();
    let words = [
        &*format!("cannot connect to {free} (connection refused)"),
        "Nothing was sent to the model.",
        "Is the server running?",
    ];
    assert_failure(&failure, FailureKind::Unreachable, &words);
    assert_eq!((failure.place, failure.status), (Place::Transport, None));

    let url = "http://no-such-host.invalid/v1".to_owned();
    let failure = exchange(&quick(), url).await.unwrap_err();
    let words = ["cannot find the host no-such-host.invalid (", "Nothing was sent to the model."];
    assert_failure(&failure, FailureKind::Unreachable, &words);

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
    });
    let failure = exchange(&quick(), format!("https://{address}")).await.unwrap_err();
    let words = [&*format!("no secure connection to {address} (it does not speak TLS)"), "http://"];
    assert_failure(&failure, FailureKind::Unreachable, &words);
}

#[tokio::test]
async fn a_certificate_that_nobody_vouches_for_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let received = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut tls = rustls::ServerConnection::new(self_signed()).unwrap();
        while tls.is_handshaking() && tls.complete_io(&mut stream).is_ok() {}
        tls.reader().read(&mut [0]).unwrap_or(0)
    });
    let failure = exchange(&Client::new(), format!("https://{address}")).await.unwrap_err();
    let words = [
        &*format!(
            "certificate of {address} not trusted: nobody that this machine trusts vouches for it"
        ),
        "Nothing was sent to the model.",
        "SSL_CERT_FILE",
    ];
    assert_failure(&failure, FailureKind::Unreachable, &words);
    assert_eq!(received.join().unwrap(), 0, "the request was sent");
}

/// A certificate for this machine and its key, made for this test alone (valid for 100 years).
fn self_signed() -> Arc<rustls::ServerConfig> {
    let certificate = include_bytes!("fixtures/tls/self-signed.der").to_vec();
    let key = include_bytes!("fixtures/tls/self-signed.key.der").to_vec();
    let provider = rustls::crypto::ring::default_provider();
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(provider))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.into()],
            rustls::pki_types::PrivatePkcs8KeyDer::from(key).into(),
        );
    Arc::new(config.unwrap())
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    // Never accepts: the handshake of TLS has to wait.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let limits = Limits { connect: Duration::from_millis(200), idle: Duration::from_secs(5) };
    let client = Client::with(limits, Proxies::default());
    let failure = exchange(&client, format!("https://{address}")).await.unwrap_err();
    let words = [&*format!("cannot connect to {address} (no answer within 0.2 s)")];
    assert_failure(&failure, FailureKind::Unreachable, &words);

    let begun = Instant::now();
    let failure = exchange(&quick(), format!("http://{address}")).await.unwrap_err();
    assert_failure(
        &failure,
        FailureKind::Unreachable,
        &[&format!("no data from {address} for 0.3 s")],
    );
    assert!(begun.elapsed() < Duration::from_secs(3));
}

#[tokio::test]
async fn a_connection_closed_before_any_header_is_told() {
    let (address, _requests) = server(|_, stream| drop(stream));
    let failure = exchange(&Client::new(), format!("http://{address}")).await.unwrap_err();
    let words = [&*format!("the connection to {address} was lost before an answer came")];
    assert_failure(&failure, FailureKind::Disconnected, &words);
}

/// What comes again the same is not worth another attempt, and says so.
#[tokio::test]
async fn what_is_no_http_is_told_as_such() {
    let long = format!("{OK}x: {}\r\n\r\n", "x".repeat(1 << 20));
    for (head, words) in [
        ("SSH-2.0-OpenSSH_9.9\r\n", "no HTTP"),
        ("HTTP/3.7 200 OK\r\n\r\n", "no HTTP"),
        ("HTTP/1.1 20x OK\r\n\r\n", "no HTTP"),
        ("HTTP/1.1 200 OK\r\nbad header\r\n\r\n", "no HTTP"),
        ("HTTP/1.1 200 OK\r\ncontent-length: some\r\n\r\n", "no HTTP"),
        ("\x15\x03\x01\0\x02\x02\x50", "no HTTP"),
        (&*long, "message head is too large"),
    ] {
        let (address, _requests) = answering(head.to_owned());
        let failure = exchange(&Client::new(), format!("http://{address}")).await.unwrap_err();
        let words = [words, &address.to_string(), "Not tried again: it would be the same."];
        assert_failure(&failure, FailureKind::Malformed, &words);
    }
    let (address, _requests) = answering(format!("{OK}transfer-encoding: chunked\r\n\r\nzz\r\n"));
    let reply = exchange(&Client::new(), format!("http://{address}")).await.unwrap();
    let words = ["its HTTP is broken", "Not tried again: it would be the same."];
    assert_failure(&reply.failure.unwrap(), FailureKind::Malformed, &words);
}

#[tokio::test]
async fn a_cut_stream_is_lost_and_keeps_what_came() {
    type Cut = fn(usize, TcpStream);
    let cases: [(&str, Cut, &str); 4] = [
        (
            "closed within a chunked body",
            |_, mut stream| {
                let size = CHUNK.len();
                write!(stream, "{OK}transfer-encoding: chunked\r\n\r\n{size:x}\r\n{CHUNK}\r\n")
                    .unwrap();
            },
            "was lost in mid-answer (closed by the server)",
        ),
        (
            "closed before its length",
            |_, mut stream| write!(stream, "{OK}content-length: 5000\r\n\r\n{CHUNK}").unwrap(),
            "was lost in mid-answer",
        ),
        (
            "closed, without a length",
            |_, mut stream| write!(stream, "{OK}connection: close\r\n\r\n{CHUNK}").unwrap(),
            "the connection ended before the end mark",
        ),
        (
            "ended in good order",
            |_, mut stream| {
                let size = CHUNK.len();
                write!(stream, "{OK}content-length: {size}\r\n\r\n{CHUNK}").unwrap();
            },
            "the connection ended before the end mark",
        ),
    ];
    for (what, cut, words) in cases {
        let (address, _requests) = server(cut);
        let reply = exchange(&Client::new(), format!("http://{address}")).await.unwrap();
        assert_eq!(reply.text(), "Hel", "{what}");
        let failure = reply.failure.unwrap();
        assert_failure(&failure, FailureKind::Disconnected, &[words]);
        assert_eq!(failure.status, Some(200), "{what}");
    }
}

#[tokio::test]
async fn a_reset_connection_is_told() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = endpoint(format!("http://{}", listener.local_addr().unwrap()));
    let client = Client::new();
    let answer = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.read_buf(&mut Vec::new()).await.unwrap();
        let head = format!("{OK}content-length: 5000\r\n\r\n{CHUNK}");
        stream.write_all(head.as_bytes()).await.unwrap();
        stream
    };
    let (response, stream) = tokio::join!(client.post(&endpoint, parts(&["{}"])), answer);
    let mut response = response.unwrap();
    assert_eq!(response.chunk().await.unwrap().unwrap(), CHUNK.as_bytes());
    // Closing without a handshake: the peer gets a reset.
    stream.set_zero_linger().unwrap();
    drop(stream);
    let failure = response.chunk().await.unwrap_err();
    let words = ["was lost in mid-answer (connection reset by the server)"];
    assert_failure(&failure, FailureKind::Disconnected, &words);
}

#[tokio::test]
async fn silence_is_given_up_and_any_byte_is_a_sign_of_life() {
    let (address, _requests) = server(|_, mut stream| {
        write!(stream, "{OK}connection: close\r\n\r\n{CHUNK}").unwrap();
        for _ in 0..12 {
            std::thread::sleep(Duration::from_millis(100));
            stream.write_all(b": ping\n\n").unwrap();
        }
        // Until the client gives up.
        let _ = stream.read(&mut [0; 1]);
    });
    // Ten times the pause between comments, so that a busy machine makes no silence of its own.
    let limits = Limits { idle: Duration::from_secs(1), ..Limits::default() };
    let client = Client::with(limits, Proxies::default());
    let begun = Instant::now();
    let reply = exchange(&client, format!("http://{address}")).await.unwrap();
    assert!(begun.elapsed() > Duration::from_millis(2200), "comments did not count");
    assert_eq!(reply.text(), "Hel");
    let words = [&*format!("no data from {address} for 1 s")];
    assert_failure(&reply.failure.unwrap(), FailureKind::Unreachable, &words);
}

#[tokio::test]
async fn a_proxy_is_used_but_never_for_this_machine() {
    let answer = format!("{OK}content-length: 14\r\n\r\ndata: [DONE]\n\n");
    let (proxy, seen_by_proxy) = answering(answer.clone());
    let (address, direct) = answering(answer);
    let port = address.port();
    let url = format!("http://user:secret@{proxy}");
    let proxies = Proxies { http: url.clone(), all: url, ..Proxies::default() };
    assert!(!format!("{proxies:?}").contains("secret"));
    let client = Client::with(Limits::default(), proxies);
    for host in ["127.0.0.1", "localhost", "127.9.9.9"] {
        // The server listens on 127.0.0.1 only: for the last address being refused is proof enough.
        let result = exchange(&client, format!("http://{host}:{port}")).await;
        match result {
            Ok(_) => drop(direct.recv().unwrap()),
            Err(failure) => assert!(failure.message.contains("refused"), "{failure:?}"),
        }
        assert!(seen_by_proxy.try_recv().is_err(), "{host} went through the proxy");
    }
    let _ = exchange(&client, format!("http://[::1]:{port}")).await;
    assert!(seen_by_proxy.try_recv().is_err(), "[::1] went through the proxy");

    exchange(&client, "http://model.example/v1".to_owned()).await.unwrap();
    let (_, request) = seen_by_proxy.recv().unwrap();
    let request = String::from_utf8(request).unwrap();
    assert!(request.starts_with("POST http://model.example/v1/chat/completions "), "{request}");
}

#[tokio::test]
async fn an_unusable_proxy_is_named_and_not_passed_over() {
    let proxies = Proxies { https: "http://:secret@:".to_owned(), ..Proxies::default() };
    let client = Client::with(Limits::default(), proxies);
    let failure = exchange(&client, "http://127.0.0.1:9".to_owned()).await.unwrap_err();
    assert_failure(&failure, FailureKind::Unreachable, &["HTTPS_PROXY", "Nothing was sent."]);
}

#[tokio::test]
async fn a_url_with_a_password_is_refused_before_anything_is_sent() {
    let (address, requests) = answering(String::new());
    let url = format!("http://user:secret@{address}");
    let failure = exchange(&Client::new(), url).await.unwrap_err();
    assert_failure(&failure, FailureKind::InvalidRequest, &["password", "Nothing was sent."]);
    assert!(requests.try_recv().is_err());
}
