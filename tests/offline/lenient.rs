//! How the lenient model goes astray when results are missing.

use serde_json::json;

use crate::client::{Chat, FOUR, assert_says};

#[tokio::test]
async fn the_lenient_model_repeats_a_call_without_result_and_then_invents_one() {
    for (prompt, invented) in [
        (FOUR[0], "works as expected"),
        (FOUR[1], "No Python files found."),
        (FOUR[2], "`main`"),
        (FOUR[3], "have been created"),
        ("$ ls -l", "without any errors"),
    ] {
        let mut chat = Chat::lenient().await;
        chat.prompt(prompt);
        let first = chat.turn().await;
        let ghost = chat.turn().await;
        assert_eq!(first.commands(), ghost.commands());
        assert_eq!(first.text, ghost.text);
        assert_ne!(first.calls[0].0, ghost.calls[0].0);
        let third = chat.turn().await;
        assert_eq!(third.commands(), Vec::<String>::new());
        assert_says(&third.text, &[invented]);

        // The matter is closed: the next prompt is answered.
        let (_, answer) = chat.run("hi").await;
        assert_says(&answer, &["a script, not an AI"]);
    }
}

#[tokio::test]
async fn the_lenient_model_loses_its_way_at_any_step() {
    let mut chat = Chat::lenient().await;
    chat.prompt(FOUR[3]);
    let reply = chat.turn().await;
    chat.result(&reply.calls[0].0, "(no output)\n[exit code 0]");
    let writes = chat.turn().await;
    assert_eq!(writes.calls.len(), 3);
    chat.result(&writes.calls[1].0, "(no output)\n[exit code 0]");
    let ghost = chat.turn().await;
    assert_eq!(ghost.commands(), [writes.commands()[0].clone(), writes.commands()[2].clone()]);
    // Told at last, it goes on.
    for (id, _, _) in &ghost.calls {
        chat.result(id, "(no output)\n[exit code 0]");
    }
    assert_eq!(chat.turn().await.commands(), ["ls -l test_output"]);
}

#[tokio::test]
async fn the_lenient_model_does_not_know_what_became_of_a_file() {
    let mut chat = Chat::lenient().await;
    chat.prompt(FOUR[0]);
    chat.turn().await;
    chat.messages.push(json!({"role": "assistant", "content": "Done."}));
    let (_, answer) = chat.run("what file did we just create?").await;
    assert_says(&answer, &["`hello.py`", "its result is not among them"]);
}
