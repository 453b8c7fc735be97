//! Where requests go, and the key that goes with them.

use reqwest::Url;
use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue,
    USER_AGENT,
};

use super::failure;
use crate::conversation::{Failure, FailureKind, RequestHead};
use crate::wire::Auth;

/// Where requests of one format are posted.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The base URL, as given; slashes at its end do not matter.
    pub url: String,
    /// What follows it: `/chat/completions`.
    pub path: &'static str,
    /// In which header the key goes.
    pub auth: Auth,
    /// The key, if one is used.
    pub key: Option<Key>,
    /// Who named the URL and how it is changed, in a sentence, if that was not an argument.
    pub named_by: Option<String>,
}

/// A secret that goes to its endpoint and nowhere else: it cannot be printed or stored.
#[derive(Clone)]
pub struct Key(String);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(***)")
    }
}

impl Key {
    /// A key, without the white space around it.
    pub fn new(key: &str) -> Self {
        Self(key.trim().to_owned())
    }

    /// The header that holds it, marked as sensitive.
    ///
    /// # Errors
    /// Why there is none, without the key.
    pub(super) fn header(&self, auth: Auth) -> Result<(HeaderName, HeaderValue), String> {
        let (name, value) = match auth {
            Auth::Bearer => (AUTHORIZATION, HeaderValue::from_str(&format!("Bearer {}", self.0))),
            Auth::ApiKey => (HeaderName::from_static("x-api-key"), HeaderValue::from_str(&self.0)),
        };
        let mut value = value.map_err(|_| {
            "the key holds characters that no header can hold (a line break?).".to_owned()
        })?;
        value.set_sensitive(true);
        Ok((name, value))
    }
}

/// What the name of a parameter of a URL ends with, if its value is a secret (`api_key`, `X-Amz-Signature`).
const SECRET_ENDINGS: [&str; 7] =
    ["key", "token", "secret", "password", "credential", "signature", "sig"];

const ANTHROPIC_VERSION: &str = "2023-06-01";

impl Endpoint {
    /// Adds what the format's servers want to know who asks. The only place where a key leaves.
    ///
    /// # Errors
    /// If the key cannot stand in a header; without the key.
    #[expect(clippy::result_large_err, reason = "it is what `Client::post` hands on")]
    pub(super) fn authorize(&self, headers: &mut HeaderMap) -> Result<(), Failure> {
        if self.auth == Auth::ApiKey {
            headers.insert("anthropic-version", HeaderValue::from_static(ANTHROPIC_VERSION));
        }
        if let Some(key) = &self.key {
            let (name, value) = key
                .header(self.auth)
                .map_err(|why| failure::nothing_sent(FailureKind::Auth, &why))?;
            headers.insert(name, value);
        }
        Ok(())
    }

    /// What stands before the body when `bytes` bytes are posted, the key masked.
    ///
    /// # Errors
    /// If nothing can be posted there; without the key.
    #[expect(clippy::result_large_err, reason = "it is what `Client::post` hands on")]
    pub fn head(&self, bytes: u64) -> Result<RequestHead, Failure> {
        let (url, headers) = self.posting(bytes)?;
        let mask = |text: &str| match &self.key {
            Some(Key(key)) if !key.is_empty() => text.replace(key, "***"),
            _ => text.to_owned(),
        };
        let shown = |(name, value): (&HeaderName, &HeaderValue)| {
            (name.as_str().to_owned(), mask(&String::from_utf8_lossy(value.as_bytes())))
        };
        Ok(RequestHead {
            method: "POST".to_owned(),
            url: mask(url.as_str()),
            headers: headers.iter().map(shown).collect(),
        })
    }

    /// The URL to post to, and every header: none is left for the client to add.
    ///
    /// # Errors
    /// If nothing can be posted there; without the key.
    #[expect(clippy::result_large_err, reason = "it is what `Client::post` hands on")]
    pub(super) fn posting(&self, bytes: u64) -> Result<(Url, HeaderMap), Failure> {
        let unusable = |why: &str| failure::nothing_sent(FailureKind::InvalidRequest, why);
        let url = self.target().map_err(|why| unusable(&why))?;
        let host = self.host().and_then(|host| {
            HeaderValue::from_str(&host).map_err(|_| "the URL's host fits no header.".to_owned())
        });
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.map_err(|why| unusable(&why))?);
        headers.insert(USER_AGENT, HeaderValue::from_static(super::USER_AGENT));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        self.authorize(&mut headers)?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CONTENT_LENGTH, HeaderValue::from(bytes));
        Ok((url, headers))
    }

    /// The host that requests go to, with the port if the URL names one.
    ///
    /// # Errors
    /// Why the URL cannot be used, without quoting it: it may hold secrets.
    pub fn host(&self) -> Result<String, String> {
        let url = self.target()?;
        let host = url.host_str().unwrap_or_default();
        Ok(match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        })
    }

    /// Whether what is sent can be read on the way: plain HTTP to another machine than this one.
    ///
    /// # Errors
    /// Why the URL cannot be used, without quoting it: it may hold secrets.
    pub fn is_in_clear(&self) -> Result<bool, String> {
        let url = self.target()?;
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let local = host == "localhost"
            || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
        Ok(url.scheme() == "http" && !local)
    }

    /// Whether the URL holds the key, or something else under the name of one.
    fn tells_a_secret(&self, url: &Url) -> bool {
        let named = url.query_pairs().any(|(name, value)| {
            let name = name.to_ascii_lowercase();
            !value.is_empty() && SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending))
        });
        let holds = |Key(key): &Key| {
            self.url.contains(key.as_str())
                || url.query_pairs().any(|(_, value)| value.contains(key.as_str()))
        };
        named || self.key.as_ref().is_some_and(holds)
    }

    /// The URL to post to.
    ///
    /// # Errors
    /// Why the URL cannot be used, without quoting it: it may hold secrets.
    pub(super) fn target(&self) -> Result<Url, String> {
        if !self.url.is_ascii() {
            return Err(
                "the URL holds letters outside of ASCII, which may only look like those of \
                 the host that is meant: write the host as xn--… if it is really called so."
                    .to_owned(),
            );
        }
        let mut url = Url::parse(self.url.trim()).map_err(|error| {
            format!("the URL cannot be read ({error}): it must look like http://127.0.0.1:8080/v1.")
        })?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err("the URL must begin with http:// or https://.".to_owned());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(
                "the URL holds a user name or a password, which would end up in logs: take \
                it out, and name a variable that holds the key (--key-env)."
                    .to_owned(),
            );
        }
        if self.tells_a_secret(&url) {
            return Err(
                "the URL holds a key, which would end up in logs: take it out, and name a \
                variable that holds it (--key-env)."
                    .to_owned(),
            );
        }
        let path = format!("{}{}", url.path().trim_end_matches('/'), self.path);
        url.set_path(&path);
        url.set_fragment(None);
        Ok(url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(url: &str) -> Result<String, String> {
        let endpoint = Endpoint {
            url: url.to_owned(),
            path: "/chat/completions",
            auth: Auth::Bearer,
            key: None,
            named_by: None,
        };
        endpoint.target().map(String::from)
    }

    #[test]
    fn the_path_follows_the_base() {
        let cases = [
            ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1/chat/completions"),
            ("http://[::1]:8080/v1//", "http://[::1]:8080/v1/chat/completions"),
            (" https://example.org ", "https://example.org/chat/completions"),
            (
                "https://example.org/v1/?api-version=2#x",
                "https://example.org/v1/chat/completions?api-version=2",
            ),
        ];
        for (url, expected) in cases {
            assert_eq!(target(url).as_deref(), Ok(expected), "{url}");
        }
    }

    #[test]
    fn unusable_urls_are_refused_without_quoting_them() {
        let cases = [
            ("", "cannot be read"),
            ("/secret/v1", "cannot be read"),
            ("http://", "cannot be read"),
            ("ftp://secret.example/v1", "must begin with http:// or https://"),
            ("secret.example:8080/v1", "must begin with http:// or https://"),
            ("file:///secret", "must begin with http:// or https://"),
            ("http://user:secret@example.org/v1", "user name or a password"),
            ("http://secret@example.org/v1", "user name or a password"),
            ("https://\u{430}pi.secret.example/v1", "only look like"),
            ("https://example.org/v1?api-version=2&api_key=secret", "holds a key"),
            ("https://example.org/v1?Access%5FToken=secret", "holds a key"),
            ("https://example.org/v1?X-Amz-Signature=secret", "holds a key"),
        ];
        for (url, words) in cases {
            let message = target(url).unwrap_err();
            assert!(message.contains(words), "{url}: {message}");
            assert!(!message.contains("secret"), "{url}: {message}");
        }
    }

    #[test]
    fn only_this_machine_is_reached_in_clear() {
        let cases = [
            ("http://localhost:8080/v1", false),
            ("http://127.0.0.1/v1", false),
            ("http://127.8.9.1/v1", false),
            ("http://[::1]:8080/v1", false),
            ("https://example.org/v1", false),
            ("http://example.org/v1", true),
            ("http://192.168.1.5:8080/v1", true),
            ("http://localhost.example.org/v1", true),
            ("http://127.0.0.1.example.org/v1", true),
            ("HTTP://EXAMPLE.org", true),
        ];
        for (url, expected) in cases {
            let url = url.to_owned();
            let endpoint =
                Endpoint { url, path: "/x", auth: Auth::Bearer, key: None, named_by: None };
            assert_eq!(endpoint.is_in_clear(), Ok(expected), "{}", endpoint.url);
        }
    }

    #[test]
    fn the_shown_head_masks_the_key() {
        let endpoint = Endpoint {
            url: "https://example.org:8443/v1".to_owned(),
            path: "/messages",
            auth: Auth::ApiKey,
            key: Some(Key::new("sk-secret")),
            named_by: None,
        };
        let head = endpoint.head(12).unwrap();
        assert_eq!(head.url, "https://example.org:8443/v1/messages");
        assert!(head.headers.contains(&("x-api-key".to_owned(), "***".to_owned())));
        assert!(head.headers.contains(&("host".to_owned(), "example.org:8443".to_owned())));
        for url in ["secret", "https://example.org/sk-secret/v1", "https://example.org?k=sk-secret"]
        {
            let unusable = Endpoint { url: url.to_owned(), ..endpoint.clone() };
            assert!(!format!("{:?}", unusable.head(12).unwrap_err()).contains("secret"));
        }
    }

    #[test]
    fn a_key_is_not_printed() {
        let key = Key::new(" sk-secret\n");
        assert_eq!(format!("{key:?}"), "Key(***)");
        for (auth, named, sent) in [
            (Auth::Bearer, "authorization", "Bearer sk-secret"),
            (Auth::ApiKey, "x-api-key", "sk-secret"),
        ] {
            let (name, header) = key.header(auth).unwrap();
            assert_eq!((name.as_str(), header.to_str().unwrap()), (named, sent));
            assert!(!format!("{header:?}").contains("secret"));
        }
        let why = Key::new("sk\nsecret").header(Auth::Bearer).unwrap_err();
        assert!(!why.contains("secret"), "{why}");
    }
}
