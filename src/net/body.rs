//! A request body made of parts: posted with its length, without copying a part.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

use crate::conversation::Part;

/// The body that the parts add up to.
#[derive(Debug)]
pub struct Body {
    parts: Vec<Arc<Part>>,
    departure: Departure,
}

/// Whether any of a body has been handed to a connection.
#[derive(Debug, Clone, Default)]
pub struct Departure(Arc<AtomicBool>);

impl Departure {
    /// Whether it was.
    pub fn has_begun(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl From<Vec<Arc<Part>>> for Body {
    fn from(parts: Vec<Arc<Part>>) -> Self {
        Self { parts, departure: Departure::default() }
    }
}

impl Body {
    /// What tells, also later, whether any of it has left.
    pub fn departure(&self) -> Departure {
        self.departure.clone()
    }

    /// Its length.
    pub(super) fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.text.len() as u64).sum()
    }

    pub(super) fn into_reqwest(self) -> reqwest::Body {
        let left = self.bytes();
        let Self { parts, departure } = self;
        reqwest::Body::wrap(Parts { rest: parts.into_iter(), left, departure })
    }
}

#[derive(Debug)]
struct Parts {
    rest: std::vec::IntoIter<Arc<Part>>,
    /// Bytes still to be sent.
    left: u64,
    departure: Departure,
}

struct Text(Arc<Part>);

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        self.0.text.as_bytes()
    }
}

impl http_body::Body for Parts {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.departure.0.store(true, Ordering::Relaxed);
        let next = self.rest.find(|part| !part.text.is_empty());
        Poll::Ready(next.map(|part| {
            self.left -= part.text.len() as u64;
            Ok(Frame::data(Bytes::from_owner(Text(part))))
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
