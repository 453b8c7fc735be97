//! A command's text, taken apart far enough to find names and paths in it.
//!
//! Not a parser of the shell's grammar: it only knows quotes, substitutions, separators and redirects.
//! Where it could be wrong it reads more rather than less: the text inside quotes, substitutions and
//! here-documents is read again as a command of its own, so that `sh -c 'su""do x'` yields `sudo`.
//! What is put together only when it runs (a variable's value, a decoded text, a script file) is not
//! seen by anyone who reads the text, and not here.

/// Stands in a word for an expansion whose value is not known. No command holds a NUL.
pub(super) const UNKNOWN: char = '\0';

/// Texts within texts that are read. Deeper ones are only reported.
const MAX_DEPTH: usize = 8;

/// All commands in a text, at every depth.
#[derive(Debug, Default)]
pub(super) struct Script {
    pub(super) commands: Vec<Simple>,
    /// Holds only words, quotes, separators and redirects: no substitution, comment, here-document
    /// or `case`.
    pub(super) plain: bool,
    /// There was more within than is read.
    pub(super) too_deep: bool,
}

/// One command: what stands between separators.
#[derive(Debug, Default)]
pub(super) struct Simple {
    /// Without quotes; `$HOME` is `~`, other expansions are [`UNKNOWN`].
    pub(super) words: Vec<String>,
    /// Where output is redirected to.
    pub(super) outputs: Vec<String>,
    /// Reads from a pipe.
    pub(super) fed: bool,
    /// 0 when it stands in the text itself, more when inside quotes or a substitution.
    pub(super) depth: usize,
}

/// Takes a command's text apart.
pub(super) fn read(text: &str) -> Script {
    let mut script = Script { plain: true, ..Script::default() };
    let mut waiting = vec![(text.to_owned(), 0)];
    while let Some((text, depth)) = waiting.pop() {
        if depth > MAX_DEPTH {
            script.too_deep = true;
            continue;
        }
        let mut lexer = Lexer::new(&text, depth);
        lexer.run();
        script.commands.extend(lexer.commands);
        script.plain &= lexer.plain || depth > 0;
        let within = lexer.within.into_iter().filter(|inner| *inner != text);
        waiting.extend(within.map(|inner| (inner, depth + 1)));
    }
    script
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Redirect {
    Input,
    Output,
}

struct Lexer {
    chars: Vec<char>,
    at: usize,
    depth: usize,
    /// A here-document may hold what looks like a comment and is none.
    here_document: bool,
    commands: Vec<Simple>,
    plain: bool,
    within: Vec<String>,
    current: Simple,
    /// Begun, perhaps still empty (`''`).
    word: Option<String>,
    quoted: bool,
    redirect: Option<Redirect>,
}

impl Lexer {
    fn new(text: &str, depth: usize) -> Self {
        Self {
            chars: text.chars().collect(),
            at: 0,
            depth,
            here_document: text.contains("<<"),
            commands: Vec::new(),
            plain: true,
            within: Vec::new(),
            current: Simple { depth, ..Simple::default() },
            word: None,
            quoted: false,
            redirect: None,
        }
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek(0)?;
        self.at += 1;
        Some(c)
    }

    fn push(&mut self, c: char) {
        self.word().push(c);
    }

    fn word(&mut self) -> &mut String {
        self.word.get_or_insert_default()
    }

    fn begin_quotes(&mut self) {
        self.word();
        self.quoted = true;
    }

    fn run(&mut self) {
        while let Some(c) = self.next() {
            match c {
                '\\' => match self.next() {
                    Some('\n') | None => {}
                    Some(c) => {
                        self.quoted = true;
                        self.push(c);
                    }
                },
                '\'' => self.single_quotes(),
                '"' => self.double_quotes(),
                '$' => self.dollar(),
                '`' => self.backquotes(),
                '#' if self.word.is_none() => self.comment(),
                '|' => {
                    let pipe = self.peek(0) != Some('|');
                    self.end_command(pipe);
                    if !pipe {
                        self.at += 1;
                    }
                }
                '&' if self.peek(0) == Some('>') => {
                    self.at += 1;
                    self.end_word();
                    self.output();
                }
                '\n' | ';' | '(' | ')' | '&' => self.end_command(false),
                '>' => {
                    self.drop_descriptor();
                    self.output();
                }
                '<' => {
                    self.drop_descriptor();
                    self.input();
                }
                c if c.is_whitespace() => self.end_word(),
                c => self.push(c),
            }
        }
        self.end_command(false);
    }

    fn single_quotes(&mut self) {
        self.begin_quotes();
        while let Some(c) = self.next() {
            if c == '\'' {
                return;
            }
            self.word().push(c);
        }
    }

    fn double_quotes(&mut self) {
        self.begin_quotes();
        while let Some(c) = self.next() {
            match c {
                '"' => return,
                '$' => self.dollar(),
                '`' => self.backquotes(),
                '\\' => match self.next() {
                    Some('\n') | None => {}
                    Some(c @ ('$' | '`' | '"' | '\\')) => self.word().push(c),
                    Some(c) => self.word().extend(['\\', c]),
                },
                c => self.word().push(c),
            }
        }
    }

    /// After `$`.
    fn dollar(&mut self) {
        match self.peek(0) {
            Some('(') => {
                self.at += 1;
                let inner = self.until_balanced('(', ')');
                self.substitution(inner);
            }
            Some('{') => {
                self.at += 1;
                let inner = self.until_balanced('{', '}');
                self.parameter(&inner);
            }
            Some('\'') => {
                self.at += 1;
                self.escaped_quotes();
            }
            Some('"') => {} // `$"…"`: the quotes come next
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let mut name = String::new();
                while let Some(c) = self.peek(0).filter(|c| c.is_ascii_alphanumeric() || *c == '_')
                {
                    name.push(c);
                    self.at += 1;
                }
                self.push(if name == "HOME" { '~' } else { UNKNOWN });
            }
            Some(c) if c.is_ascii_digit() || "@*#?$!-".contains(c) => {
                self.at += 1;
                self.push(UNKNOWN);
            }
            _ => self.push('$'),
        }
    }

    /// `${…}`: a default value becomes part of the word and is read again with it.
    fn parameter(&mut self, inner: &str) {
        let end =
            inner.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(inner.len());
        let (name, rest) = inner.split_at(end);
        self.plain &= rest.is_empty();
        self.push(if name == "HOME" { '~' } else { UNKNOWN });
        let operator = rest.strip_prefix(':').unwrap_or(rest);
        if let Some(value) = operator.strip_prefix(['-', '=', '+']) {
            self.word().push_str(value);
        } else if rest.contains(['$', '`']) {
            self.within.push(rest.to_owned());
        }
    }

    fn backquotes(&mut self) {
        let mut inner = String::new();
        while let Some(c) = self.next() {
            match c {
                '`' => break,
                '\\' => match self.next() {
                    Some(c @ ('`' | '\\' | '$')) => inner.push(c),
                    Some(c) => inner.extend(['\\', c]),
                    None => {}
                },
                c => inner.push(c),
            }
        }
        self.substitution(inner);
    }

    fn substitution(&mut self, inner: String) {
        self.within.push(inner);
        self.plain = false;
        self.push(UNKNOWN);
    }

    /// `$'…'`.
    fn escaped_quotes(&mut self) {
        self.begin_quotes();
        while let Some(c) = self.next() {
            match c {
                '\'' => return,
                '\\' => {
                    let decoded = match self.next() {
                        Some('n') => '\n',
                        Some('t') => '\t',
                        Some('r') => '\r',
                        Some('x') => self.number(16, 2),
                        Some('u') => self.number(16, 4),
                        Some('U') => self.number(16, 8),
                        Some('0'..='7') => {
                            self.at -= 1;
                            self.number(8, 3)
                        }
                        Some(c) => c,
                        None => return,
                    };
                    self.word().push(decoded);
                }
                c => self.word().push(c),
            }
        }
    }

    fn number(&mut self, radix: u32, digits: usize) -> char {
        let mut value = 0u32;
        for _ in 0..digits {
            let Some(digit) = self.peek(0).and_then(|c| c.to_digit(radix)) else { break };
            value = value.wrapping_mul(radix).wrapping_add(digit);
            self.at += 1;
        }
        char::from_u32(value).unwrap_or('?')
    }

    /// The text up to the closing bracket (or the end), which is consumed.
    fn until_balanced(&mut self, open: char, close: char) -> String {
        let mut inner = String::new();
        let mut level = 1;
        let mut quote = None;
        while let Some(c) = self.next() {
            if c == '\\' && quote != Some('\'') {
                inner.push(c);
                inner.extend(self.next());
                continue;
            }
            match quote {
                Some(q) if c == q => quote = None,
                None if c == '\'' || c == '"' => quote = Some(c),
                None if c == open => level += 1,
                None if c == close => {
                    level -= 1;
                    if level == 0 {
                        break;
                    }
                }
                Some(_) | None => {}
            }
            inner.push(c);
        }
        inner
    }

    fn comment(&mut self) {
        self.plain = false;
        let start = self.at;
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.at += 1;
        }
        if self.here_document {
            self.within.push(self.chars[start..self.at].iter().collect());
        }
    }

    /// The `2` of `2>` is no word.
    fn drop_descriptor(&mut self) {
        let digits =
            self.word.as_ref().is_some_and(|word| word.chars().all(|c| c.is_ascii_digit()));
        if digits && !self.quoted {
            self.word = None;
        }
        self.end_word();
    }

    /// After `>`.
    fn output(&mut self) {
        while self.peek(0).is_some_and(|c| matches!(c, '>' | '|' | '&')) {
            self.at += 1;
        }
        if self.peek(0) == Some('(') {
            self.plain = false; // a process substitution: read on as a command
        } else {
            self.redirect = Some(Redirect::Output);
        }
    }

    /// After `<`.
    fn input(&mut self) {
        match self.peek(0) {
            Some('<') => {
                self.plain = false;
                while self.peek(0).is_some_and(|c| matches!(c, '<' | '-')) {
                    self.at += 1;
                }
            }
            Some('>') => {
                self.at += 1;
                self.redirect = Some(Redirect::Output);
            }
            Some('(') => {
                self.plain = false; // a process substitution: a file's name, then read on as a command
                self.push(UNKNOWN);
            }
            _ => self.redirect = Some(Redirect::Input),
        }
    }

    fn end_word(&mut self) {
        let quoted = std::mem::take(&mut self.quoted);
        let Some(word) = self.word.take() else { return };
        let holds_more = word.contains(|c: char| c.is_whitespace() || "'\"\\`$;|&()<>".contains(c));
        if holds_more && word.len() > 1 {
            self.within.push(word.clone());
        }
        match self.redirect.take() {
            Some(Redirect::Output) => self.current.outputs.push(word),
            Some(Redirect::Input) => {}
            None => {
                if word == "esac" {
                    self.plain = false;
                }
                let reserved = [
                    "{", "}", "!", "if", "then", "elif", "else", "fi", "while", "until", "do",
                    "done", "time",
                ];
                if quoted || !self.current.words.is_empty() || !reserved.contains(&word.as_str()) {
                    self.current.words.push(word);
                }
            }
        }
    }

    /// `piped`: the next command reads what this one writes.
    fn end_command(&mut self, piped: bool) {
        self.end_word();
        self.redirect = None;
        let next = Simple { depth: self.depth, fed: piped, ..Simple::default() };
        let done = std::mem::replace(&mut self.current, next);
        if !done.words.is_empty() || !done.outputs.is_empty() {
            self.commands.push(done);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Vec<String>> {
        read(text).commands.into_iter().map(|command| command.words).collect()
    }

    #[test]
    fn quotes_and_separators() {
        assert_eq!(words("a 'b c';d"), [vec!["a", "b c"], vec!["d"], vec!["b", "c"]]);
        assert_eq!(
            words(
                r#"su''do \sudo "su"do $'\x73udo' su\
do"#
            ),
            [["sudo"; 5]]
        );
        assert_eq!(words("if true; then X=1 y; fi"), [vec!["true"], vec!["X=1", "y"]]);
        assert_eq!(words("echo a#b # c\nd"), [vec!["echo", "a#b"], vec!["d"]]);
    }

    #[test]
    fn substitutions_are_read_as_commands() {
        assert_eq!(words("a \"$(b 'c)' d)\""), [vec!["a", "\0"], vec!["b", "c)", "d"], vec!["c"]]);
        assert_eq!(words("a `b \\`c\\``"), [vec!["a", "\0"], vec!["b", "\0"], vec!["c"]]);
        assert_eq!(words("s${x}u${HOME}"), [["s\0u~"]]);
        assert_eq!(words("${x:-sudo}"), [["\0sudo"]]);
    }

    #[test]
    fn redirects_are_no_words() {
        let script = read("a 2>b >>c &>d <e 2>&1 x3>f | g");
        assert_eq!(script.commands[0].words, ["a", "x3"]);
        assert_eq!(script.commands[0].outputs, ["b", "c", "d", "1", "f"]);
        assert!(script.commands[1].fed && script.plain);
    }

    #[test]
    fn what_is_nested_too_deep_is_reported() {
        assert!(read(&"$(".repeat(20)).too_deep);
    }
}
