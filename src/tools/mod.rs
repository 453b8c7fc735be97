//! What the model can ask to be run. A tool is one file here and one line in [`registered`].
//!
//! `bash` is the only one. A command's way: `bash` starts it through a `minder` (`process`), its
//! output goes through `intake` into the `capture` (as plain text, see `text::Printed`) and the
//! `output_file`, and what the model reads of it is made in `result`.

mod bash;
mod capture;
mod environment;
mod inked;
mod intake;
pub mod minder;
mod output_file;
mod pause;
mod process;
mod result;
mod table;

pub use bash::{Bash, Settings, TIME_LIMIT};
pub use environment::Withheld;
pub use pause::{pause_commands, resume_commands};
pub use result::signal_name;
pub use table::{hang_up, lenders};

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::conversation::{CallStatus, Receipt, ToolDefinition};

/// A tool.
pub trait Tool: Send + Sync {
    /// What the model is told about it.
    fn definition(&self) -> ToolDefinition;

    /// What these arguments would execute, word for word, for a person to decide on.
    ///
    /// # Errors
    /// Why the arguments cannot be used, naming the field, in words that the model reads.
    fn command(&self, arguments: &str) -> Result<String, String>;

    /// Runs a command that was allowed. Never fails: every way to end is an [`Outcome`].
    fn run(&self, job: Job) -> Pin<Box<dyn Future<Output = Outcome> + Send + '_>>;
}

/// One allowed execution.
#[derive(Debug)]
pub struct Job {
    /// Exactly what was displayed and allowed.
    pub command: String,
    /// Characters of the result that something else takes.
    pub taken: usize,
    /// Where the complete output is kept, up to a cap; `None` keeps none.
    pub output_file: Option<PathBuf>,
    /// Samples for the screen, newest wins.
    pub samples: watch::Sender<Sample>,
    /// Ends the command's whole tree when cancelled.
    pub stop: CancellationToken,
}

/// What a running command has written, for display.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sample {
    /// The newest lines; of terminal escapes only those for colours are left.
    pub tail: String,
    /// Bytes written so far.
    pub produced: u64,
}

/// How an execution ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// What became of it.
    pub status: CallStatus,
    /// The result that the model reads.
    pub text: String,
    /// Bytes produced, sent, cut.
    pub receipt: Receipt,
    /// Milliseconds from start to end.
    pub duration_ms: u64,
    /// Variables that it may have wanted and was not given.
    pub withheld: Vec<String>,
}

/// Every tool.
pub fn registered(settings: Settings) -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(Bash::new(settings))]
}
