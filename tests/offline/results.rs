//! What the model makes of results: memory, denials, edits, failures.

use std::path::Path;

use serde_json::json;

use crate::client::{Chat, FOUR, assert_says, run, user};

#[tokio::test]
async fn memory_is_the_messages() {
    let mut chat = Chat::new().await;
    let question = "what file did we just create?";
    let (asked, answer) = chat.run(question).await;
    assert!(asked.is_empty());
    assert_says(&answer, &["I don't know", "nothing in the messages I was sent"]);

    chat.run(FOUR[0]).await;
    chat.run(FOUR[1]).await;
    let (asked, answer) = chat.run(question).await;
    assert!(asked.is_empty());
    // system, question, answer, prompt, call: the fifth.
    assert_says(&answer, &["`hello.py`", "number 5 ", "exit code 0"]);

    chat.run("$ echo hi > notes.txt").await;
    let (_, answer) = chat.run(question).await;
    assert_says(&answer, &["`notes.txt`"]);
    assert!(!answer.contains("hello.py"), "{answer}");

    chat.messages.clear();
    let (_, answer) = chat.run(question).await;
    assert_says(&answer, &["I don't know"]);
}

#[tokio::test]
async fn memory_knows_what_was_not_created() {
    let question = "What file did we just create?";
    let cases = [
        ("Denied by the user; not executed.", "`hello.py` was not created"),
        ("sh: 1: cannot create hello.py\n[exit code 2]", "exit code 2"),
        ("(no output)\n[timed out after 120 s, stopped]", "timed out after 120 s"),
        ("Not started: the user stopped the prompt.", "the call was not run: Not started"),
        ("Interrupted.", "does not say how it ended"),
        (
            "The user edited the command.\nProposed: x\nExecuted: ls\n(no output)\n[exit code 0]",
            "you ran `ls` instead",
        ),
    ];
    for (result, wanted) in cases {
        let mut chat = Chat::new().await;
        chat.run("$ touch older.txt").await;
        chat.ask(FOUR[0], |_, _| result.to_owned()).await;
        let (_, answer) = chat.run(question).await;
        assert_says(&answer, &[wanted, "`hello.py`", "We created `older.txt`"]);
        assert!(!answer.contains("We created `hello.py`"), "{answer}");
    }
    let mut chat = Chat::new().await;
    let edited = "The user edited the command.\nProposed: x\nExecuted: echo 1 > other.py\n\
                  (no output)\n[exit code 0]";
    chat.ask(FOUR[0], |_, _| edited.to_owned()).await;
    let (_, answer) = chat.run(question).await;
    assert_says(&answer, &["We created `other.py`"]);
}

#[tokio::test]
async fn a_denial_ends_the_script_and_is_acknowledged() {
    for prompt in FOUR.into_iter().chain(["$ ls"]) {
        let mut chat = Chat::new().await;
        let denial = "Denied by the user; not executed. Reason: not in this directory";
        let (asked, answer) = chat.ask(prompt, |_, _| denial.to_owned()).await;
        assert_eq!(asked.len(), 1, "{prompt}");
        assert_says(&answer, &["was denied", "not run", "not in this directory"]);

        let mut chat = Chat::new().await;
        let denial = "Denied by limpid: nobody is there to ask; not executed.";
        let (asked, answer) = chat.ask(prompt, |_, _| denial.to_owned()).await;
        assert_eq!(asked.len(), 1, "{prompt}");
        assert_says(&answer, &["was denied", "tell me what to do instead"]);
    }
}

#[tokio::test]
async fn an_edit_is_acknowledged_and_its_result_is_quoted() {
    let mut chat = Chat::new().await;
    let edit = |directory: &Path, command: &str| {
        let executed = "echo edited";
        let result = run(directory, executed);
        format!("The user edited the command. Proposed: {command} Executed: {executed}\n{result}")
    };
    let (_, answer) = chat.ask(FOUR[1], edit).await;
    assert_says(&answer, &["You ran `echo edited` instead", "```\nedited\n```"]);
}

#[tokio::test]
async fn one_denial_among_several_calls_is_told_apart() {
    let mut chat = Chat::new().await;
    let decide = |directory: &Path, command: &str| {
        if command.contains("file2") {
            "Denied by the user; not executed. Reason: two are enough".to_owned()
        } else {
            run(directory, command)
        }
    };
    let (asked, answer) = chat.ask(FOUR[3], decide).await;
    assert_eq!(asked.len(), 2);
    assert_says(&answer, &["file1.txt` ended with exit code 0", "two are enough"]);
    let (_, answer) = chat.run("what files did we just create?").await;
    assert_says(
        &answer,
        &[
            "We created `test_output/file1.txt`, `test_output/file3.txt`",
            "`test_output/file2.txt` was not created",
        ],
    );
}

#[tokio::test]
async fn ends_other_than_an_exit_code_are_told() {
    let cases = [
        ("1\n2\n[timed out after 3 s, stopped]", &["timed out after 3 s", "1\n2\n"][..]),
        ("(no output)\n[stopped by the user after 2 s]", &["stopped by the user after 2 s"][..]),
        ("Error: not run. Cut off.", &["was not run", "Cut off."][..]),
        ("secret.py", &["does not say how the command ended", "secret.py"][..]),
    ];
    for (result, wanted) in cases {
        let (_, answer) = Chat::new().await.ask(FOUR[1], |_, _| result.to_owned()).await;
        assert_says(&answer, wanted);
    }
}

#[tokio::test]
async fn an_interrupted_reply_is_given_anew() {
    let mut chat = Chat::new().await;
    chat.prompt(FOUR[1]);
    chat.messages.push(json!({"role": "assistant", "content": "I'll lo"}));
    chat.messages.push(user("[The reply above was interrupted by the user; it is incomplete.]"));
    assert_eq!(chat.turn().await.calls.len(), 1);
}
