//! Which proxies are used: those that the environment names, but never for this machine itself.

use reqwest::{NoProxy, Proxy};

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

    /// The rules, in the order in which they are asked.
    ///
    /// # Errors
    /// Which variable cannot be used; never its value.
    pub(super) fn build(&self) -> Result<Vec<Proxy>, String> {
        let except = NoProxy::from_string(&format!("{},{LOOPBACK}", self.except));
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
