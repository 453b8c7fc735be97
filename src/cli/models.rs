//! `limpid models`: which models the server of the chosen profile has.

use std::io::{self, Write as _};
use std::process::ExitCode;

use serde::Deserialize;

use super::settings::{Asking, Loaded};
use super::switch::OFFLINE;
use super::{Connection, runtime, usage};
use crate::config::Choice;
use crate::conversation::{Failure, FailureKind};
use crate::net::{Client, Endpoint, Proxies};
use crate::text::{self, Show, translated};
use crate::wire::{Decoder, End};

/// A list of more bytes is not read.
const LONGEST_LIST: usize = 16 << 20;

#[derive(Deserialize)]
struct List {
    data: Vec<Model>,
}

#[derive(Deserialize)]
struct Model {
    id: String,
}

/// Prints the models, one a line.
pub(super) fn run(connection: &Connection) -> color_eyre::Result<ExitCode> {
    let loaded = match connection.load(Asking::Allowed) {
        Ok(loaded) => loaded,
        Err(error) => return usage(&error.to_string()),
    };
    let models = match loaded.server() {
        Err(error) => return usage(&error.to_string()),
        Ok(None) => Ok(OFFLINE.map(str::to_owned).into()),
        Ok(Some((_, endpoint))) => runtime()?.block_on(ask(&loaded, endpoint)),
    };
    match models {
        Ok(models) => {
            let mut out = io::stdout().lock();
            for model in models {
                writeln!(out, "{}", text::visible(&model, Show::Prose))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(why) => {
            writeln!(io::stderr(), "limpid: {}", text::visible(&translated(&why), Show::Prose))?;
            Ok(ExitCode::FAILURE)
        }
    }
}

/// The ids of the server's models, in its order; a key that the server repeats is replaced.
///
/// # Errors
/// What happened and what to do, in words; may hold the server's text.
pub(super) async fn ask(loaded: &Loaded, endpoint: Endpoint) -> Result<Vec<String>, String> {
    let secrets = loaded.secrets();
    let clean = |text: String| secrets.redact(&text).into_owned();
    let listed = list(loaded, endpoint).await;
    listed.map(|ids| ids.into_iter().map(clean).collect()).map_err(clean)
}

async fn list(loaded: &Loaded, endpoint: Endpoint) -> Result<Vec<String>, String> {
    let endpoint = Endpoint { path: "/models", ..endpoint };
    let told = |failure: &Failure| match failure.kind {
        // There is no body to look at, nor a model to name.
        FailureKind::InvalidRequest | FailureKind::NotFound => {
            let cause = failure.cause();
            let cause = cause.trim_end_matches('.');
            format!(
                "{cause}. The server lists no models like this: check the URL, up to and with /v1, and the key"
            )
        }
        _ => failure.in_words(),
    };
    let client = Client::with(loaded.limits(), Proxies::from_env());
    let mut response = client.get(&endpoint).await.map_err(|failure| told(&failure))?;
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|failure| told(&failure))? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > LONGEST_LIST {
            return Err("the list of models is longer than 16 MiB; it was not read".to_owned());
        }
    }
    if response.head.status != 200 {
        // Errors look the same as those of a request.
        let mut decoder = Decoder::new(loaded.format(), &response.head);
        decoder.feed(&bytes);
        return Err(match decoder.finish(End::Eof).failure {
            Some(failure) => told(&failure),
            None => format!("HTTP {}", response.head.status),
        });
    }
    match serde_json::from_slice::<List>(&bytes) {
        Ok(list) => Ok(list.data.into_iter().map(|model| model.id).collect()),
        Err(_) => {
            let name = match &loaded.settings.choice.value {
                Choice::Profile(name) => format!("of the profile {name}"),
                Choice::Url | Choice::Offline => "(--url)".to_owned(),
            };
            Err(format!(
                "the answer is not a list of models. Check that the URL {name} is that of the API, \
                 such as http://127.0.0.1:8080/v1"
            ))
        }
    }
}
