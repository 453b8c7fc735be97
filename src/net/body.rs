//! A request body made of parts: posted with its length, without copying a part.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use crate::conversation::Part;

/// The body that the parts add up to.
pub(super) fn of(parts: Vec<Arc<Part>>) -> reqwest::Body {
    let left = parts.iter().map(|part| part.text.len() as u64).sum();
    reqwest::Body::wrap(Parts { rest: parts.into_iter(), left })
}

#[derive(Debug)]
struct Parts {
    rest: std::vec::IntoIter<Arc<Part>>,
    /// Bytes still to be sent.
    left: u64,
}

struct Text(Arc<Part>);

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        self.0.text.as_bytes()
    }
}

impl Body for Parts {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
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
