//! Asking a server for something that is no message: the list of its models.

use reqwest::header::{ACCEPT, HeaderMap, HeaderValue};

use super::{Client, Endpoint, Response, failure};
use crate::clock::within;
use crate::conversation::{Failure, FailureKind};

impl Client {
    /// Gets what is at the endpoint's URL and waits for the answer's head.
    ///
    /// # Errors
    /// Why there is none, as of [`Client::post`].
    pub async fn get(&self, endpoint: &Endpoint) -> Result<Response, Failure> {
        let url = endpoint
            .target()
            .map_err(|why| failure::nothing_sent(FailureKind::InvalidRequest, &why))?;
        let peer = self.peer(endpoint, &url);
        let http = self.http().await?;
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        endpoint.authorize(&mut headers)?;
        let request = http.get(url.clone()).headers(headers);
        match within(self.limits.idle, request.send()).await {
            Some(Ok(inner)) => Response::of(inner, peer, &url).map_err(|none| none.failure),
            Some(Err(error)) => Err(peer.not_answered(&error)),
            None => Err(peer.silent()),
        }
    }
}
