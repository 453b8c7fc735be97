//! What the terminal sends, as a stream that costs nothing while nothing comes.

use std::future::poll_fn;
use std::io;
use std::task::Poll;
use std::time::Duration;

use crossterm::event::{Event, EventStream};
use futures_util::StreamExt as _;
use futures_util::stream::{SelectAll, select_all};

/// What the terminal sends. As one of several streams it is asked only when it says that there is
/// news: to find out, crossterm tries a lock that its own thread holds while it waits, and gives the
/// processor away several times before it gives up.
pub(super) type Keys = SelectAll<EventStream>;

/// What the terminal sends from here on.
///
/// # Errors
/// If the terminal cannot be read. The stream itself would panic then, so it is asked for first.
pub(super) fn keys() -> io::Result<Keys> {
    crossterm::event::poll(Duration::ZERO)?;
    Ok(select_all([EventStream::new()]))
}

/// What the terminal has sent already.
pub(super) async fn waiting(keys: &mut Keys) -> Option<Option<io::Result<Event>>> {
    poll_fn(|context| match keys.poll_next_unpin(context) {
        Poll::Ready(event) => Poll::Ready(Some(event)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}
