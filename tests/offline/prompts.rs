//! The prompts that the model knows, each through its whole loop.

use serde_json::{Value, json};

use crate::client::{Chat, FOUR, assert_says, post, prepare, run};
use limpid::offline::{Pace, start};

#[tokio::test]
async fn creates_a_file_and_quotes_what_is_in_it() {
    let mut chat = Chat::new().await;
    let (asked, answer) = chat.run(FOUR[0]).await;
    assert_eq!(asked.len(), 1);
    assert_eq!(chat.file("hello.py"), "print(\"Hello, World!\")\n");
    assert_says(&answer, &["`hello.py`", "```\nprint(\"Hello, World!\")\n```"]);
}

#[tokio::test]
async fn any_text_reaches_the_file_unharmed() {
    let texts = [
        "it's",
        "say \"hi\"",
        "$HOME ${HOME} $(id) `id`",
        r"back\slash \n %s %%",
        "你好，世界 👩‍👩‍👧‍👦 é",
        "a; rm -rf x && echo 'b' > c | d # {file} !!",
    ];
    for text in texts {
        let mut chat = Chat::new().await;
        chat.run(&format!(
            "please create a python script named \"my file.py\" that prints \"{text}\"."
        ))
        .await;
        let literal = serde_json::to_string(text).unwrap();
        assert_eq!(chat.file("my file.py"), format!("print({literal})\n"));

        chat.run(&format!("Make a file called x.txt containing '{text}'")).await;
        assert_eq!(chat.file("x.txt"), format!("{text}\n"));

        chat.run(&format!("write a script called say.sh that prints \"{text}\"")).await;
        let said = run(chat.path(), "sh say.sh");
        assert_eq!(said, format!("{text}\n[exit code 0]"));
        assert_eq!(std::fs::read_dir(chat.path()).unwrap().count(), 3);
    }
}

#[tokio::test]
async fn lists_the_python_files_that_are_there() {
    let mut chat = Chat::new().await;
    let (asked, answer) = chat.run(FOUR[1]).await;
    assert_eq!(asked.len(), 1);
    assert_says(&answer, &["no Python files"]);

    prepare(chat.path(), "touch b.py 'a b.py' c.txt");
    let (_, answer) = chat.run("list all python files in the current directory.").await;
    assert_says(&answer, &[": 2", "a b.py\n", "b.py\n"]);
    assert!(!answer.contains("c.txt"));
}

#[tokio::test]
async fn tells_the_git_branch_or_why_there_is_none() {
    let mut chat = Chat::new().await;
    let (_, answer) = chat.run(FOUR[2]).await;
    assert_says(&answer, &["not in a git repository", "exit code 128", "fatal: not a git"]);

    prepare(chat.path(), "git init -q -b feature/water");
    let (asked, answer) = chat.run(FOUR[2]).await;
    assert_eq!(asked, [["git branch --show-current"]]);
    assert_says(&answer, &["`feature/water`"]);

    prepare(
        chat.path(),
        "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git checkout -q --detach",
    );
    let (_, answer) = chat.run("which branch are we on?").await;
    assert_says(&answer, &["detached"]);
}

#[tokio::test]
async fn creates_a_directory_with_files_over_several_turns() {
    let mut chat = Chat::new().await;
    let (asked, answer) = chat.run(FOUR[3]).await;
    let shape: Vec<usize> = asked.iter().map(Vec::len).collect();
    assert_eq!(shape, [1, 3, 1]);
    for n in 1..=3 {
        let text = chat.file(&format!("test_output/file{n}.txt"));
        assert_eq!(text, format!("This is file {n} of 3.\n"));
    }
    assert_says(&answer, &["test_output", "file1.txt\n", "file2.txt\n", "file3.txt\n"]);

    chat.run("Create a folder called 'my dir' and then put two files into it").await;
    assert_eq!(std::fs::read_dir(chat.path().join("my dir")).unwrap().count(), 2);
    let (_, answer) = chat.run("What files did we just create?").await;
    assert_says(&answer, &["`my dir/file1.txt`, `my dir/file2.txt`"]);
}

#[tokio::test]
async fn a_step_that_fails_ends_the_script() {
    let mut chat = Chat::new().await;
    prepare(chat.path(), "touch test_output");
    let (asked, answer) = chat.run(FOUR[3]).await;
    assert_eq!(asked.len(), 1);
    assert_says(&answer, &["mkdir -p test_output", "exit code 1", "File exists"]);
}

#[tokio::test]
async fn lines_with_a_dollar_are_run_as_they_stand() {
    let mut chat = Chat::new().await;
    let (asked, answer) = chat.run("$ echo \"${PWD##*/}\"  'a  b' {file}").await;
    assert_eq!(asked, [["echo \"${PWD##*/}\"  'a  b' {file}"]]);
    assert_says(&answer, &["a  b {file}", "exit code 0"]);

    let (asked, answer) = chat.run("and these:\n$ echo one\n$ exit 3\n$ true\nthank you").await;
    assert_eq!(asked, [["echo one", "exit 3", "true"]]);
    assert_says(&answer, &["```\none\n```", "`exit 3` failed", "exit code 3", "`true` ended"]);
}

#[tokio::test]
async fn chinese_prompts_work_too() {
    let mut chat = Chat::new().await;
    chat.run("创建一个名为 hello.py 的文件，打印 \"你好\"").await;
    assert_eq!(chat.file("hello.py"), "print(\"你好\")\n");
    let (_, answer) = chat.run("列出当前目录的所有 Python 文件").await;
    assert_says(&answer, &["hello.py", "1 个"]);
    let (_, answer) = chat.run("当前的 git 分支是什么？").await;
    assert_says(&answer, &["不在 git 仓库里"]);
    let (_, answer) = chat.run("请创建一个名为 test_output 的目录，并在里面写三个文件").await;
    assert_says(&answer, &["file3.txt"]);
    let (asked, answer) = chat.run("我们刚才创建了什么文件？").await;
    assert!(asked.is_empty());
    assert_says(&answer, &["`test_output/file1.txt`"]);
}

#[tokio::test]
async fn anything_else_gets_the_honest_text() {
    for prompt in ["hi", "Hello!", "help", "What is the meaning of life?", "Create a file", "{}"] {
        let (asked, answer) = Chat::new().await.run(prompt).await;
        assert!(asked.is_empty());
        assert_says(&answer, &["a script, not an AI", "`$ ls -l`", "--key-env DEEPSEEK_API_KEY"]);
        for prompt in FOUR {
            assert_says(&answer, &[prompt]);
        }
    }
    let (_, answer) = Chat::new().await.run("你好").await;
    assert_says(&answer, &["不是人工智能", "--key-env DEEPSEEK_API_KEY"]);
}

#[tokio::test]
async fn every_prompt_that_the_honest_texts_offer_works() {
    for greeting in ["help", "帮助"] {
        let mut chat = Chat::new().await;
        let (_, about) = chat.run(greeting).await;
        let offered = about.lines().filter_map(|line| line.strip_prefix("- "));
        let offered: Vec<&str> = offered.filter(|line| !line.contains("`$ `")).collect();
        assert_eq!(offered.len(), 5);
        for prompt in offered {
            let (_, answer) = chat.run(prompt).await;
            assert_ne!(answer, about, "{prompt}");
        }
    }
}

#[tokio::test]
async fn without_a_shell_it_says_that_it_cannot_run_anything() {
    let server = start(Pace::Full).await.unwrap();
    let other = json!([{"type": "function", "function": {"name": "read"}}]);
    for tools in [Value::Null, other] {
        for prompt in [FOUR[0], "$ ls"] {
            let body = json!({"model": "offline", "tools": tools,
                "messages": [{"role": "user", "content": prompt}]});
            let answer = post(&server, &body).await.json();
            let message = &answer["choices"][0]["message"];
            assert!(message.get("tool_calls").is_none());
            assert_says(message["content"].as_str().unwrap(), &["cannot run anything"]);
        }
    }
}
