//! The offline model: a small HTTP server in the same process that speaks the three formats.
//!
//! It is a script, not an AI: what it answers is a pure function of the conversation that it is
//! sent, and the conversation itself (which prompts it knows, what it says, what it asks to run)
//! is data, in `assets/offline/`. One file for each language, embedded at build time.
//!
//! - `offline` is strict: a malformed history gets status 400, as the real API of the format would
//!   answer, in its words and shape.
//! - `offline-lenient` accepts one, as some servers do, and then shows what models do with it: it
//!   repeats a call whose result it never sees, and the third time it makes the result up.
//!
//! It uses nothing of the rest of the crate: a server built from our own encoders and decoders
//! would only confirm their faults. It runs nothing, reads no files and knows no directory; the
//! commands that it asks for are run by the client, or not.
//!
//! | file | about |
//! |---|---|
//! | `server` | connections, routes, status codes |
//! | `format` | which format answers at which URL |
//! | `chat`, `anthropic`, `responses` | one format each: `read` a body, `check` it strictly, `write` a reply |
//! | `posted` | a request, read |
//! | `refusal` | an error in the form that the format's clients expect |
//! | `seal` | reasoning recognised when it comes back |
//! | `transcript` | what was posted, read as a conversation |
//! | `outcome` | what a result says: output, exit code, denied, edited |
//! | `pattern` | prompts with slots |
//! | `book` | the data in `assets/offline/` |
//! | `script` | transcript → answer |
//! | `recall` | "what file did we just create?" |
//! | `shell` | quoting for `sh`; which files a command writes |
//! | `reply` | an answer on its way out: ids, pieces, pace |

mod anthropic;
mod book;
mod chat;
mod format;
mod outcome;
mod pattern;
mod posted;
mod recall;
mod refusal;
mod reply;
mod responses;
mod script;
mod seal;
mod server;
mod shell;
mod transcript;

pub use format::Format;
pub use reply::Pace;
pub use server::{Server, start};

/// Whether model `offline`, which is as strict as real servers are, takes what this body tells it:
/// its history and its tools, whatever model it names.
///
/// # Errors
/// The first fault, in the words of the 400 that it would answer.
pub fn check(format: Format, body: &serde_json::Value) -> Result<(), String> {
    let body = body.as_object().ok_or("not an object")?;
    format.check(body).map_err(|refusal| refusal.message)
}
