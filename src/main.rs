//! Start-up only.

use std::process::ExitCode;

use limpid::tools::minder;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|argument| argument == minder::ARGUMENT) {
        return minder::main();
    }
    ExitCode::SUCCESS
}
