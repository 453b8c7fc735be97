//! A session on disk: a directory with the journal, the responses as they arrived, and the
//! complete outputs of commands. What the records mean is `conversation`'s.
//!
//! ```text
//! $XDG_DATA_HOME/limpid/sessions/2026-11-30-032801-1f4/    0700
//!     journal.jsonl             0600   a header line, then one record a line
//!     unsent.json               0600   what the user has typed and not sent, while there is any
//!     exchanges/0002-1.http     0600   status, headers and raw bytes of turn 2, attempt 1
//!     exchanges/0002-1.times    0600   for each portion of them: where it begins, when it came
//!     outputs/…                 0600   what commands wrote
//! ```

mod exchange;
mod journal;
mod listing;
mod outputs;
mod private;
mod prompts;
mod reading;
mod unsent;

pub use exchange::{read_exchange, whole_body};
pub use journal::{Header, Journal, VERSION};
pub use listing::{Listed, find, latest_of, list, sessions_dir};
pub use outputs::{kept_output, output_name};
pub use private::{own_directory, own_file, own_new_file};
pub use prompts::earlier_prompts;
pub use reading::{JournalError, Loaded, Reopened, load, reopen};
pub use unsent::keep_unsent;
