//! What the scripts need to know of `sh`: how a text is quoted, and which files a command writes.

/// The text as one word of a command.
pub(super) fn quote(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./-".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    /// `>` and its kin, for standard output: the next word is a file that is written.
    Writes,
    /// Any other redirection: the next word is none of the command's.
    Redirects,
    /// The end of a command: `;`, `&`, `|`, a new line, brackets.
    Ends,
}

/// The files that a command writes, as far as its text shows it: the targets of `>` and `>>`, and
/// the arguments of `touch` and `tee`. What scripts and programs write on their own is not seen.
pub(super) fn files_written(command: &str) -> Vec<String> {
    let mut files = Vec::new();
    let mut program: Option<String> = None;
    let mut tokens = tokens(command).into_iter();
    while let Some(token) = tokens.next() {
        match token {
            Token::Writes => {
                if let Some(Token::Word(file)) = tokens.next() {
                    files.push(file);
                }
            }
            Token::Redirects => {
                tokens.next();
            }
            Token::Ends => program = None,
            Token::Word(word) => match program.as_deref() {
                None => program = Some(word),
                Some("touch" | "tee") if !word.starts_with('-') => files.push(word),
                Some(_) => {}
            },
        }
    }
    files.retain(|file| !file.is_empty() && !file.starts_with("/dev/"));
    files
}

fn tokens(command: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut word: Option<String> = None;
    let mut here_document = false;
    let mut chars = command.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                let word = word.get_or_insert_default();
                word.extend(chars.by_ref().take_while(|c| *c != '\''));
            }
            '"' => {
                let word = word.get_or_insert_default();
                while let Some(c) = chars.next().filter(|c| *c != '"') {
                    let escapes = c == '\\' && chars.peek().is_some_and(|c| "\"\\$`".contains(*c));
                    word.extend(if escapes { chars.next() } else { Some(c) });
                }
            }
            '\\' => word.get_or_insert_default().extend(chars.next()),
            '>' | '<' => {
                // `2>` is about file descriptor 2: the digits belong to the redirection.
                let number = word
                    .take_if(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_digit()));
                tokens.extend(word.take().map(Token::Word));
                let doubled = chars.next_if_eq(&c).is_some();
                here_document |= doubled && c == '<';
                let copies = chars.next_if(|c| "&|".contains(*c)) == Some('&');
                let output = c == '>' && !copies && number.is_none_or(|number| number == "1");
                tokens.push(if output { Token::Writes } else { Token::Redirects });
            }
            // What follows is the text of the here-document.
            '\n' if here_document => break,
            ';' | '&' | '|' | '\n' | '(' | ')' => {
                tokens.extend(word.take().map(Token::Word));
                tokens.push(Token::Ends);
            }
            c if c.is_whitespace() => tokens.extend(word.take().map(Token::Word)),
            c => word.get_or_insert_default().push(c),
        }
    }
    tokens.extend(word.map(Token::Word));
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sees_the_files_that_a_command_writes() {
        let cases: [(&str, &[&str]); 14] = [
            ("echo hi > a.txt", &["a.txt"]),
            ("echo hi >a.txt && cat a.txt", &["a.txt"]),
            ("printf '%s\\n' 'a > b' >> 'my file'", &["my file"]),
            ("echo \"a \\\"> b\" > \"c d\"", &["c d"]),
            ("echo it\\'s > it\\'s.txt", &["it's.txt"]),
            ("ls 2> errors; ls 2>&1 >/dev/null", &[]),
            ("ls 1> list", &["list"]),
            ("touch a b; echo | tee -a c", &["a", "b", "c"]),
            ("cat > f <<'EOF'\na > b\nEOF", &["f"]),
            ("sort < in", &[]),
            ("mkdir x && ls x", &[]),
            ("echo touch a", &[]),
            ("echo 'unclosed > x", &[]),
            ("", &[]),
        ];
        for (command, files) in cases {
            assert_eq!(files_written(command), files, "{command}");
        }
    }
}
