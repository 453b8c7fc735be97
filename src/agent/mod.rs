//! The background task that runs the loop, and the handle with which a screen or script speaks to
//! it: commands go in, events come out.

mod gates;
mod looper;
mod recorder;

pub use gates::{Acting, Outgoing};
pub use looper::{Loop, Model};
pub use recorder::Recorder;
