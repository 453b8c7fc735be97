//! What to do after a failure.

/// English, Chinese. `{names}` are filled in.
pub(super) const TEXTS: &[(&str, &str)] = &[
    // What to do after a failure.
    (
        "Check the key in the variable that --key-env, or the profile's key_env, names, and that it belongs to this URL.",
        "请检查 --key-env 或配置档 key_env 所指变量中的密钥，以及它是否属于这个 URL。",
    ),
    ("Wait {wait}, then try again.", "请等待 {wait} 后重试。"),
    ("Wait a little, then try again.", "请稍候重试。"),
    (
        "Look at plan and balance at the provider; trying again does not help.",
        "请查看服务商处的套餐与余额；重试无用。",
    ),
    (
        "The messages are longer than the model can read: /clear starts anew.",
        "消息超出模型可读的长度：/clear 重新开始。",
    ),
    (
        "Check the model's name (--model, or the profile's model) and the URL (--url, or its url; most end with /v1).",
        "请检查模型名称（--model 或配置档的 model）和 URL（--url 或其 url；多以 /v1 结尾）。",
    ),
    (
        "The server refuses the request as it is: the inspector, or limpid inspect --body, shows its exact body.",
        "服务器拒绝这样的请求：检视窗格或 limpid inspect --body 显示请求体原文。",
    ),
    (
        "The model wrote an unusable call; nothing was run. Try again.",
        "模型写出了不可用的调用；未运行任何命令。请重试。",
    ),
    ("The fault is the server's: try again later.", "问题在服务器：请稍后重试。"),
    (
        "Check that the URL (--url, or the profile's url) is that of the API, such as http://127.0.0.1:8080/v1.",
        "请检查 URL（--url 或配置档的 url）是否为 API 地址，例如 http://127.0.0.1:8080/v1。",
    ),
    (
        "Ask for less, or set a limit with --max-tokens; a server that never ends is at fault.",
        "请减少要求，或用 --max-tokens 设上限；永不结束是服务器的问题。",
    ),
    ("Then try again.", "然后重试。"),
    ("/continue asks for the reply once more.", "/continue 再次请求该回答。"),
    (
        "Check that the server runs and can be reached, then try again.",
        "请检查服务器是否在运行且可达，然后重试。",
    ),
    ("until {date}", "至 {date}"),
    (
        "Set join_user_messages = true for this profile in config.toml: this model takes one user message at a time.",
        "请在 config.toml 里给这个配置档设 join_user_messages = true：这个模型一次只接受一条用户消息。",
    ),
    (
        "limpid read {name} when it started: put the right key there and start it again. Or choose another profile with /model, then /continue.",
        "limpid 在启动时读取了 {name}：请填入正确的密钥并重新启动。或用 /model 选择另一个配置档，再用 /continue。",
    ),
    (
        "Or choose another profile with /model, then /continue.",
        "或用 /model 选择另一个配置档，再用 /continue。",
    ),
];
