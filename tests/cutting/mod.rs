//! A relay before a server that breaks its answers off after so many events.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// For each answer to come, after how many events it ends.
type Cuts = Arc<Mutex<VecDeque<Option<usize>>>>;

pub(crate) struct Relay {
    address: SocketAddr,
    cuts: Cuts,
}

impl Relay {
    pub(crate) async fn start(to: &str) -> Self {
        let to = to.strip_prefix("http://").unwrap().strip_suffix("/v1").unwrap().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let cuts = Cuts::default();
        let shared = cuts.clone();
        tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.unwrap();
                let server = TcpStream::connect(&to).await.unwrap();
                client.set_nodelay(true).unwrap();
                server.set_nodelay(true).unwrap();
                tokio::spawn(relay(client, server, shared.clone()));
            }
        });
        Self { address, cuts }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub(crate) fn cut(&self, cuts: Vec<Option<usize>>) {
        *self.cuts.lock().unwrap() = cuts.into();
    }
}

async fn relay(mut client: TcpStream, mut server: TcpStream, cuts: Cuts) {
    let (mut asked, mut answered) = ([0; 16384], [0; 16384]);
    let mut left = None;
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let Ok(1..) = read else { return };
                let asked = &asked[..read.unwrap()];
                if asked.starts_with(b"POST") {
                    left = cuts.lock().unwrap().pop_front().flatten();
                }
                if server.write_all(asked).await.is_err() {
                    return;
                }
            }
            read = server.read(&mut answered) => {
                let Ok(1..) = read else { return };
                let mut answered = &answered[..read.unwrap()];
                let mut ends = 0;
                if let Some(left) = &mut left {
                    let mut at = 0;
                    while let Some(end) = answered[at..].windows(2).position(|two| two == b"\n\n") {
                        at += end + 2;
                        *left -= 1;
                        if *left == 0 {
                            ends = at;
                            break;
                        }
                    }
                }
                if ends > 0 {
                    answered = &answered[..ends];
                }
                if client.write_all(answered).await.is_err() || ends > 0 {
                    return;
                }
            }
        }
    }
}
