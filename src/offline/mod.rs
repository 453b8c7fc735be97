//! The offline model: a small HTTP server in the same process that speaks Chat Completions.
//!
//! It is a script, not an AI: what it answers is a pure function of the `messages` that it is
//! sent, and the conversation itself (which prompts it knows, what it says, what it asks to run)
//! is data, in `assets/offline/`. One file for each language, embedded at build time.
//!
//! - `offline` is strict: a malformed history gets status 400, as a real API would answer.
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
//! | `posted` | the body of a request, read as far as any model needs it |
//! | `validate` | what the strict model refuses |
//! | `refusal` | an error in the form that clients expect |
//! | `transcript` | the posted messages, read as a conversation |
//! | `outcome` | what a result says: output, exit code, denied, edited |
//! | `pattern` | prompts with slots |
//! | `book` | the data in `assets/offline/` |
//! | `script` | messages → answer |
//! | `recall` | "what file did we just create?" |
//! | `shell` | quoting for `sh`; which files a command writes |
//! | `stream` | answer → JSON or server-sent events, and their pace |

mod book;
mod outcome;
mod pattern;
mod posted;
mod recall;
mod refusal;
mod script;
mod server;
mod shell;
mod stream;
mod transcript;
mod validate;

pub use server::{Server, start};
pub use stream::Pace;

/// Whether model `offline`, which is as strict as real servers are, takes these messages.
///
/// # Errors
/// The first fault, in the words of the 400 that it would answer.
pub fn check_messages(messages: &[serde_json::Value]) -> Result<(), String> {
    validate::messages(messages).map_err(|refusal| refusal.message)
}
