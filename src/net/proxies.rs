//! Which proxies are used: those that the environment names, but never for this machine itself.

use hyper_util::client::proxy::matcher::Matcher;
use reqwest::{NoProxy, Proxy, Url};

/// Proxies as the environment names them; empty texts mean none.
#[derive(Clone, Default)]
pub struct Proxies {
    /// `HTTPS_PROXY`: for https URLs.
    pub https: String,
    /// `HTTP_PROXY`: for http URLs.
    pub http: String,
    /// `ALL_PROXY`: for those that the two above leave out.
    pub all: String,
    /// `NO_PROXY`: hosts, suffixes and networks that are reached directly.
    pub except: String,
}

/// This machine; `reqwest` would use a proxy for it too.
const LOOPBACK: &str = "localhost,127.0.0.0/8,::1";

/// A proxy's URL may hold a password.
impl std::fmt::Debug for Proxies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Proxies(***)")
    }
}

impl Proxies {
    /// What the environment says, in upper or lower case.
    pub fn from_env() -> Self {
        let read = |name: &str| {
            let value = std::env::var(name).ok().filter(|value| !value.is_empty());
            value.or_else(|| std::env::var(name.to_ascii_lowercase()).ok()).unwrap_or_default()
        };
        Self {
            https: read("HTTPS_PROXY"),
            http: read("HTTP_PROXY"),
            all: read("ALL_PROXY"),
            except: read("NO_PROXY"),
        }
    }

    /// Host and port of the proxy that this URL goes through, without its password; `None` if it is
    /// reached directly.
    pub(super) fn on_the_way_to(&self, url: &Url) -> Option<String> {
        let matcher = Matcher::builder()
            .https(self.https.trim())
            .http(self.http.trim())
            .all(self.all.trim())
            .no(self.except())
            .build();
        let proxy = matcher.intercept(&url.as_str().parse().ok()?)?;
        let host = proxy.uri().host()?;
        let port = proxy.uri().port_u16();
        Some(port.map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
    }

    fn except(&self) -> String {
        format!("{},{LOOPBACK}", self.except)
    }

    /// The rules, in the order in which they are asked.
    ///
    /// # Errors
    /// Which variable cannot be used; never its value.
    pub(super) fn build(&self) -> Result<Vec<Proxy>, String> {
        let except = NoProxy::from_string(&self.except());
        let rule = |name: &str, url: &str, make: fn(&str) -> reqwest::Result<Proxy>| {
            if url.trim().is_empty() {
                return Ok(None);
            }
            match make(url.trim()) {
                Ok(proxy) => Ok(Some(proxy.no_proxy(except.clone()))),
                Err(_) => Err(format!("the variable {name} does not hold a proxy's URL")),
            }
        };
        let rules = [
            rule("HTTPS_PROXY", &self.https, |url| Proxy::https(url))?,
            rule("HTTP_PROXY", &self.http, |url| Proxy::http(url))?,
            rule("ALL_PROXY", &self.all, |url| Proxy::all(url))?,
        ];
        Ok(rules.into_iter().flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f15_the_proxy_of_a_url_is_named_without_its_password() {
        let proxies = Proxies {
            https: "http://user:secret@proxy.example:3128".to_owned(),
            http: String::new(),
            all: "socks.example:1080".to_owned(),
            except: "direct.example,.suffix.example,10.0.0.0/8".to_owned(),
        };
        let cases = [
            ("https://model.example/v1", Some("proxy.example:3128")),
            ("http://model.example/v1", Some("socks.example:1080")),
            ("https://direct.example/v1", None),
            ("https://a.suffix.example/v1", None),
            ("https://10.1.2.3/v1", None),
            ("http://127.0.0.1:8080/v1", None),
            ("http://localhost:8080/v1", None),
            ("http://[::1]:8080/v1", None),
        ];
        for (url, proxy) in cases {
            let named = proxies.on_the_way_to(&Url::parse(url).unwrap());
            assert_eq!(named.as_deref(), proxy, "{url}");
        }
    }
}
