//! Rows F14–F16, F19, C6 and C10: connections that do not come about, proxies, certificates, and
//! where the key may be seen on the way.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use support::limpid::{World, binary, stderr, stdout};
use support::server::{Server, Step, calls, sse_head, status, text};

const KEY: &str = "sk-canary-7f3a";

fn exec_with(world: &World, url: &str, variables: &[(&str, &str)]) -> Output {
    let arguments = ["exec", "--url", url, "--model", "m", "--key-env", "MY_MODEL", "--yolo", "go"];
    let mut command = world.limpid(&arguments);
    command.env("MY_MODEL", KEY).envs(variables.iter().copied());
    command.output().unwrap()
}

fn bytes(steps: &[Step]) -> Vec<u8> {
    let sent = steps.iter().filter_map(|step| match step {
        Step::Send(bytes) => Some(bytes.as_slice()),
        _ => None,
    });
    sent.collect::<Vec<_>>().concat()
}

/// An answer after which the connection stays open.
fn kept_open(steps: &[Step]) -> Vec<u8> {
    let answer = String::from_utf8(bytes(steps)).unwrap();
    let body = answer.split_once("\r\n\r\n").unwrap().1;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
    format!("{head}content-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Reads one request; `None` if the peer closes first.
fn read_request(reader: &mut impl BufRead) -> Option<String> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    Some(head)
}

#[test]
fn f14_a_kept_connection_that_the_server_closes_is_made_anew_in_silence() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let (sender, connections) = sync_channel(8);
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut requests = 0;
            while read_request(&mut reader).is_some() {
                requests += 1;
                match (number, requests) {
                    (0, 1) => stream.write_all(&kept_open(&calls(&["echo once >> log"]))).unwrap(),
                    // The second request on the same connection: read, and closed without a byte.
                    (0, _) => break,
                    _ => stream.write_all(&bytes(&text("Still here."))).unwrap(),
                }
                if number > 0 {
                    break;
                }
            }
            if sender.send(requests).is_err() {
                return;
            }
        }
    });
    let world = World::new();
    let output = exec_with(&world, &url, &[]);
    assert_eq!(stdout(&output), "Still here.\n", "{}", stderr(&output));
    assert!(!stderr(&output).contains("retry"), "{}", stderr(&output));
    assert_eq!([connections.recv().unwrap(), connections.recv().unwrap()], [2, 1]);
    assert_eq!(std::fs::read_to_string(world.project().join("log")).unwrap(), "once\n");
    let loaded = limpid::session::load(&world.sessions()[0]).unwrap().session;
    let attempts: Vec<_> = loaded.turns.iter().map(|turn| turn.exchanges.len()).collect();
    assert_eq!(attempts, [1, 2], "the reconnect is recorded as an attempt of the same turn");
}

#[test]
fn f14_a_connection_closed_between_turns_is_made_anew() {
    let mut first = calls(&["true"]);
    first[0] = Step::Send(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n".to_vec());
    let (world, server) = (World::new(), Server::start(vec![first, text("Still here.")]));
    let output = exec_with(&world, &server.url(), &[]);
    assert_eq!(stdout(&output), "Still here.\n", "{}", stderr(&output));
    assert_eq!(server.requests().len(), 2);
}

/// A proxy that answers whatever it is asked with these bytes, and tells the heads.
fn proxy(answer: &'static str) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (sender, heads) = sync_channel(16);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream: TcpStream = stream.unwrap();
            let head = read_request(&mut BufReader::new(stream.try_clone().unwrap()));
            if sender.send(head.unwrap_or_default()).is_err() {
                return;
            }
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    (address, heads)
}

#[test]
fn f15_a_proxy_that_fails_is_named_without_its_password() {
    let (closed, heads) =
        proxy("HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n");
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let (broken, _broken_heads) = proxy("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n");
    let cases = [
        ("https://model.example/v1", "HTTPS_PROXY", &closed, "HTTP 407: the proxy"),
        ("https://model.example/v1", "ALL_PROXY", &closed, "asks for a user name and a password"),
        ("http://model.example/v1", "HTTP_PROXY", &closed, "HTTP 407: the proxy"),
        ("https://model.example/v1", "HTTPS_PROXY", &free, "connection refused"),
        (
            "https://model.example/v1",
            "https_proxy",
            &broken,
            "cannot connect to model.example: the proxy",
        ),
    ];
    for (url, variable, address, words) in cases {
        let proxy_url = format!("http://user:pass-secret@{address}");
        let world = World::new();
        let output = if url.starts_with("http://") {
            // No key goes in clear to another machine, so none is given here.
            let mut command = world.limpid(&["exec", "--url", url, "--model", "m", "go"]);
            command.env(variable, &proxy_url).output().unwrap()
        } else {
            exec_with(&world, url, &[(variable, &proxy_url)])
        };
        assert_eq!(output.status.code(), Some(1));
        let told = stderr(&output);
        for words in [words, &format!("the proxy {address}"), "model.example"] {
            assert!(told.contains(words), "{variable} {words}: {told}");
        }
        assert!(!told.contains("pass-secret") && !told.contains(KEY), "{told}");
        assert_nowhere(&world, &["pass-secret", KEY]);
    }
    let head = heads.recv().unwrap();
    assert!(head.starts_with("CONNECT model.example:443 "), "{head}");
    assert!(!head.contains(KEY), "the key is not the proxy's to see: {head}");
}

#[test]
fn f15_what_no_proxy_excepts_and_this_machine_are_reached_directly() {
    let (address, heads) = proxy("HTTP/1.1 502 No\r\ncontent-length: 0\r\n\r\n");
    let url = format!("http://{address}");
    let (world, server) = (World::new(), Server::start(vec![text("Direct.")]));
    let variables = [("HTTP_PROXY", &*url), ("HTTPS_PROXY", &url), ("ALL_PROXY", &url)];
    let output = exec_with(&world, &server.url(), &variables);
    assert_eq!(stdout(&output), "Direct.\n", "{}", stderr(&output));

    for except in ["model.invalid", ".invalid", "invalid"] {
        let variables = [("HTTPS_PROXY", &*url), ("NO_PROXY", except)];
        let output = exec_with(&World::new(), "https://model.invalid/v1", &variables);
        let told = stderr(&output);
        assert!(told.contains("cannot find the host model.invalid"), "{except}: {told}");
    }
    assert!(heads.try_recv().is_err(), "the proxy was asked");
}

/// A SOCKS 5 proxy that finds every host at this server; tells whom it was asked for.
fn socks_proxy(server: &Server) -> (String, Receiver<String>) {
    let to = server.url().trim_start_matches("http://").trim_end_matches("/v1").to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (asked, hosts) = sync_channel(4);
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut greeting = [0; 2];
        stream.read_exact(&mut greeting).unwrap();
        stream.read_exact(&mut vec![0; greeting[1].into()]).unwrap();
        stream.write_all(&[5, 0]).unwrap();
        // Version, connect, reserved, a name, its length.
        let mut request = [0; 5];
        stream.read_exact(&mut request).unwrap();
        assert_eq!(request[..4], [5, 1, 0, 3]);
        let mut name = vec![0; request[4].into()];
        stream.read_exact(&mut name).unwrap();
        stream.read_exact(&mut [0; 2]).unwrap();
        asked.send(String::from_utf8(name).unwrap()).unwrap();
        stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).unwrap();
        let mut server = TcpStream::connect(to).unwrap();
        let (mut back, mut client) = (server.try_clone().unwrap(), stream.try_clone().unwrap());
        std::thread::spawn(move || std::io::copy(&mut back, &mut client));
        let _ = std::io::copy(&mut stream, &mut server);
    });
    (address, hosts)
}

#[test]
fn f15_a_socks_proxy_is_used_and_named_when_it_fails() {
    let server = Server::start(vec![text("Through.")]);
    let (address, asked) = socks_proxy(&server);
    let world = World::new();
    let through = |address: &str| {
        let arguments = ["exec", "--url", "http://model.example/v1", "--model", "m", "go"];
        let mut command = world.limpid(&arguments);
        command.env("ALL_PROXY", format!("socks5h://{address}")).output().unwrap()
    };
    let output = through(&address);
    assert_eq!(stdout(&output), "Through.\n", "{}", stderr(&output));
    assert_eq!(asked.recv().unwrap(), "model.example");
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let told = stderr(&through(&free));
    assert!(told.contains(&format!("the proxy {free}")), "{told}");
}

/// A TLS server with one of the certificates in `tests/fixtures/tls`, all signed by
/// `authority.pem`: made for these tests alone.
fn tls_server(certificate: &str) -> String {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tls");
    let read = |name: &str| std::fs::read(fixtures.join(name)).unwrap();
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(read("leaf.key.der"));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![read(certificate).into()], key.into())
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let connection = rustls::ServerConnection::new(config.clone()).unwrap();
            let mut tls = rustls::StreamOwned::new(connection, stream.unwrap());
            if read_request(&mut BufReader::new(&mut tls)).is_some() {
                tls.write_all(&bytes(&text("In private."))).unwrap();
                tls.conn.send_close_notify();
                let _ = tls.flush();
            }
        }
    });
    url
}

#[test]
fn f16_a_private_authority_is_trusted_by_its_file_alone() {
    let authority = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tls/authority.pem");
    let authority = [("SSL_CERT_FILE", authority.to_str().unwrap())];
    let url = tls_server("good.der");
    let output = exec_with(&World::new(), &url, &authority);
    assert_eq!(stdout(&output), "In private.\n", "{}", stderr(&output));

    let cases = [
        ("good.der", &[][..], "nobody that this machine trusts vouches for it", "SSL_CERT_FILE"),
        ("expired.der", &authority, "it has expired", "clock"),
        ("elsewhere.der", &authority, "it is for another host", "Nothing was sent"),
    ];
    for (certificate, variables, reason, hint) in cases {
        let url = tls_server(certificate);
        let host = url.replace("https://", "").replace("/v1", "");
        let world = World::new();
        // No file of a project can switch the check off.
        let planted = "SSL_CERT_FILE=./authority.pem\nSSL_NO_VERIFY=1\n";
        std::fs::write(world.project().join(".env"), planted).unwrap();
        let output = exec_with(&world, &url, variables);
        assert_eq!(output.status.code(), Some(1), "{certificate}");
        let told = stderr(&output);
        for words in [&*format!("certificate of {host} not trusted: {reason}"), hint] {
            assert!(told.contains(words), "{certificate} {words}: {told}");
        }
        assert!(!told.contains("retry"), "{told}");
    }
}

#[test]
fn f19_causes_are_named_before_the_limit() {
    let begun = Instant::now();
    let output = exec_with(&World::new(), "https://no-such-host.invalid/v1", &[]);
    let told = stderr(&output);
    assert!(told.contains("cannot find the host no-such-host.invalid ("), "{told}");
    assert!(told.contains("Nothing was sent to the model."), "{told}");
    assert!(begun.elapsed() < Duration::from_secs(10));

    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let world = World::new();
    let output = exec_with(&world, &format!("http://{free}/v1"), &[]);
    let told = stderr(&output);
    assert!(told.contains(&format!("cannot connect to {free} (connection refused)")), "{told}");
    assert!(!told.contains("retry"), "said at once: {told}");
    let loaded = limpid::session::load(&world.sessions()[0]).unwrap().session;
    assert_eq!(loaded.branch().last().unwrap().text(), "go", "the prompt is kept");
}

#[test]
fn f19_a_server_that_stalls_in_the_handshake_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let begun = Instant::now();
    let output = exec_with(&World::new(), &format!("https://{address}/v1"), &[]);
    let told = stderr(&output);
    assert!(
        told.contains(&format!("cannot connect to {address} (no answer within 10 s)")),
        "{told}"
    );
    assert!(begun.elapsed() < Duration::from_secs(13), "tried again");
}

#[test]
fn f19_a_server_on_ipv6_alone_is_reached() {
    let Ok(listener) = TcpListener::bind("[::1]:0") else {
        println!("skipped: no IPv6 on this machine");
        return;
    };
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        read_request(&mut BufReader::new(stream.try_clone().unwrap()));
        stream.write_all(&bytes(&text("Six."))).unwrap();
    });
    let output = exec_with(&World::new(), &url, &[]);
    assert_eq!(stdout(&output), "Six.\n", "{}", stderr(&output));
}

/// No file below the world holds one of the words.
fn assert_nowhere(world: &World, words: &[&str]) {
    fn visit(path: &Path, words: &[&str], files: &mut usize) {
        for entry in std::fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                visit(&path, words, files);
                continue;
            }
            *files += 1;
            let bytes = std::fs::read(&path).unwrap();
            for word in words {
                let found = bytes.windows(word.len()).any(|window| window == word.as_bytes());
                assert!(!found, "{word} is in {}", path.display());
            }
        }
    }
    let mut files = 0;
    visit(world.home().parent().unwrap(), words, &mut files);
    assert!(files > 0, "nothing was looked at");
}

#[test]
fn c10_the_key_is_in_no_file_and_no_message_whatever_fails() {
    let error = |line| status(line, "application/json", "{\"error\":{\"message\":\"no\"}}");
    let redirect =
        "HTTP/1.1 307 Moved\r\nlocation: http://127.0.0.1:9/x\r\ncontent-length: 0\r\n\r\n";
    let gzip = "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 1\r\n\r\nx";
    let burnt = "data: {\"error\":{\"message\":\"burnt\",\"type\":\"server_error\"}}\n\n";
    let unusable = "data: {not json}\n\n";
    let send = |text: &str| Step::Send(text.as_bytes().to_vec());
    let scripts = [
        text("Fine."),
        calls(&["env", "cat /proc/self/environ"]),
        error("400 Bad"),
        error("401 No"),
        error("404 No"),
        error("413 No"),
        status("200 OK", "text/html", "<p>portal</p>"),
        vec![send(redirect)],
        vec![send(gzip)],
        vec![sse_head(), send(burnt)],
        vec![sse_head(), send(unusable)],
        vec![send("no HTTP at all\r\n\r\n")],
        vec![sse_head(), Step::Close],
    ];
    for script in scripts {
        let (world, server) = (World::new(), Server::start(vec![script, text("Done.")]));
        let output =
            exec_with(&world, &server.url(), &[("RUST_LOG", "trace"), ("RUST_BACKTRACE", "full")]);
        let first = &server.requests()[0];
        assert!(first.head.contains(KEY), "the key was not used: {}", first.head);
        assert!(!String::from_utf8_lossy(&first.body).contains(KEY));
        let told = stdout(&output) + &stderr(&output);
        assert!(!told.contains(KEY), "{told}");
        assert_nowhere(&world, &[KEY]);
    }
    for url in
        ["http://127.0.0.1:9/v1", "https://127.0.0.1:9/v1", "https://no-such-host.invalid/v1"]
    {
        let world = World::new();
        let output = exec_with(&world, url, &[("RUST_LOG", "trace"), ("RUST_BACKTRACE", "full")]);
        assert_eq!(output.status.code(), Some(1));
        assert!(!(stdout(&output) + &stderr(&output)).contains(KEY));
        assert_nowhere(&world, &[KEY]);
    }
}

/// limpid as a user who is not the superuser: for that one nothing is unreadable.
#[test]
#[cfg(target_os = "linux")]
fn c06_a_command_cannot_read_limpids_own_environment() {
    use std::os::unix::fs::MetadataExt as _;

    let world = World::new();
    let root = world.home().parent().unwrap().to_owned();
    let is_superuser = std::fs::metadata(&root).unwrap().uid() == 0;
    let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    if is_superuser {
        let probe = Command::new("setpriv").args(nobody).arg(binary()).arg("--version").output();
        if !probe.is_ok_and(|probe| probe.status.success()) {
            println!("skipped: run by the superuser, and no way to run limpid as another user");
            return;
        }
        for path in [root.clone(), world.home(), world.project()] {
            std::os::unix::fs::chown(path, Some(65534), Some(65534)).unwrap();
        }
    }
    let command = "limpid=$(sed -n 's/^PPid:[[:space:]]*//p' /proc/$PPID/status); \
        tr '\\0' ' ' < /proc/$limpid/cmdline; cat /proc/$limpid/environ; cat /proc/$PPID/environ; env";
    let server = Server::start(vec![calls(&[command]), text("Done.")]);
    let url = server.url();
    let mut run = if is_superuser { Command::new("setpriv") } else { Command::new("env") };
    if is_superuser {
        run.args(nobody);
    }
    run.arg(binary()).args([
        "exec",
        "--url",
        &url,
        "--model",
        "m",
        "--key-env",
        "MY_MODEL",
        "--yolo",
        "go",
    ]);
    run.env_clear().envs(world.environment()).env("MY_MODEL", KEY).current_dir(world.project());
    let output = run.output().unwrap();
    assert_eq!(stdout(&output), "Done.\n", "{}", stderr(&output));
    let body = String::from_utf8(server.requests()[1].body.clone()).unwrap();
    assert!(body.contains("--key-env MY_MODEL"), "the command found another process: {body}");
    assert!(body.contains("Permission denied"), "{body}");
    assert!(!body.contains(KEY), "{body}");
}
