//! A long conversation, for what must not cost more in one.

use super::Stage;

/// So many prompts with an answer of 20 lines each, and the next turn begun.
pub fn conversation(prompts: usize) -> Stage {
    let mut stage = Stage::new(120, 40);
    let text = "A line of ordinary text.\n".repeat(20);
    for _ in 0..prompts {
        stage.prompt("more");
        stage.reply(&text, &["ls"]);
    }
    stage.request();
    stage.frame();
    stage
}
