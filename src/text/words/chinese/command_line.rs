//! What stands on the shell: leaving, questions, and what subcommands print.

/// English, Chinese. `{names}` are filled in.
pub(super) const TEXTS: &[(&str, &str)] = &[
    // Leaving.
    ("ended by SIGHUP: the terminal went away.", "被 SIGHUP 结束：终端已断开。"),
    ("ended by {signal}.", "被 {signal} 结束。"),
    ("ended, because of this: {error}.", "已结束，原因：{error}。"),
    ("The session is saved in {path}", "会话保存在 {path}"),
    ("What you typed and did not send is kept with it.", "已输入而未发送的内容与会话一起保存。"),
    ("What you typed and did not send could not be kept.", "未发送的输入未能保存。"),
    ("The prompt that was not sent is kept in {path}", "未发送的提示词保存在 {path}"),
    (
        "Not all of the session could be saved; what could is in {path}",
        "会话未能全部保存；已保存的在 {path}",
    ),
    ("See what was sent in it: limpid inspect {name}", "查看其中发送的内容：limpid inspect {name}"),
    ("Go on with it: limpid resume {name}", "接着进行：limpid resume {name}"),
    ("limpid: a part of it broke down: {what}", "limpid：内部出错：{what}"),
    (
        "A report is in {path} (no key is in it). Please send it to whoever makes limpid.",
        "报告在 {path}（其中没有密钥）。请发给 limpid 的开发者。",
    ),
    ("No report could be saved: {error}", "无法保存报告：{error}"),
    // The question about a project's .env.
    ("{path} names what limpid could use:", "{path} 设有 limpid 可用的变量："),
    ("where requests go", "请求发往何处"),
    ("the key that goes with them", "随请求发送的密钥"),
    ("the model", "模型"),
    (
        "What you type, and with it a key of your environment, would go to where this file says.",
        "你输入的内容连同环境中的密钥将发往此文件指定之处。",
    ),
    ("What you type would go to where this file says.", "你输入的内容将发往此文件指定之处。"),
    ("Use it, until it changes? [y/N] ", "在它改变之前使用它吗？[y/N] "),
    ("It is used. To decide anew: limpid trust", "使用它。重新决定：limpid trust"),
    ("It is not used. To decide anew: limpid trust", "不使用它。重新决定：limpid trust"),
    // limpid doctor.
    ("ok", "正常"),
    ("note", "注意"),
    ("WRONG", "错误"),
    ("settings", "设置"),
    ("terminal", "终端"),
    ("profile", "配置档"),
    ("key", "密钥"),
    ("network", "网络"),
    ("sessions", "会话"),
    ("trust", "信任"),
    ("config", "配置"),
    (".env", ".env"),
    // limpid inspect.
    (
        "the journal is damaged: what was sent in turn {turns} cannot be rebuilt; it is not shown. The server's answers are still in {path}",
        "日志已损坏：第 {turns} 轮发送的内容无法还原，未显示。服务器的应答仍在 {path}",
    ),
    // limpid exec.
    ("retry {attempt} of {of} in {wait}: {why}", "{wait} 后第 {attempt}/{of} 次尝试：{why}"),
    ("allowed by --yolo", "由 --yolo 批准"),
    ("ended by signal {signal}", "被信号 {signal} 结束"),
    ("stopped after {time}", "{time} 后停止"),
    ("{bytes} of `{command}`", "`{command}` 的 {bytes}"),
    (
        " Largest results: {results}. Ask anew for less of them (head, tail, grep); on the screen limpid offers to shorten them.",
        "最大的结果：{results}。请重新提问并少取一些（head、tail、grep）；在全屏界面中 limpid 会提议缩短它们。",
    ),
    ("the model returned nothing", "模型没有返回内容"),
    ("interrupted", "已中断"),
    (
        "stopped after {limit} turns (--max-turns); the work may be unfinished",
        "{limit} 轮后停止（--max-turns）；工作可能未完成",
    ),
    (
        "stopped: the model proposed a denied command for the third time",
        "已停止：模型第三次提出被拒绝的命令",
    ),
    ("What was sent: limpid inspect {name}", "发送了什么：limpid inspect {name}"),
    ("1 command was denied", "有 1 条命令被拒绝"),
    ("{count} commands were denied", "有 {count} 条命令被拒绝"),
    (
        "{denied}: the work may be undone (--yolo runs all but dangerous ones)",
        "{denied}：任务可能没有完成（--yolo 会运行除危险命令之外的全部命令）",
    ),
    (
        "what comes on stdin is not UTF-8; nothing was sent",
        "stdin 的内容不是 UTF-8；没有发送任何内容",
    ),
    ("limpid: {size} from stdin go after the prompt", "limpid：stdin 的 {size} 接在提示词之后"),
    (
        "limpid: reading stdin to its end (< /dev/null: without)",
        "limpid：正在读取 stdin 直到结束（不需要则用 < /dev/null）",
    ),
    (
        "there is no session in {place} yet. Start one: limpid",
        "{place} 里还没有会话。开始一个：limpid",
    ),
    (
        "no session has worked in {place} yet. Start one: limpid; or see those of other directories: limpid inspect --all",
        "还没有在 {place} 工作过的会话。开始一个：limpid；或查看其他目录的会话：limpid inspect --all",
    ),
    ("(nothing was sent)", "（没有发送任何内容）"),
    ("{age} ago", "{age} 前"),
];
