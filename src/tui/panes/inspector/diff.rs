//! What differs between a turn's request and an earlier one: rows that are the same are counted,
//! new ones shown whole, altered ones line by line, and those that are gone named.

use crate::text::{self, say};
use std::sync::Arc;

use crate::conversation::{Part, Session, Turn, TurnNumber};
use crate::tui::panes::readable::readable;
use crate::tui::theme::Look;
use crate::wire::outline::{self, Change, Row, RowKind};
use crate::wire::rows_compared;

/// Lines with their looks.
pub(super) type Lines = Vec<(String, Look)>;

/// The difference of a turn to an earlier one, for so many columns: the rows that head its pieces are
/// cut there.
pub(super) fn of_turn(turn: &Turn, base: TurnNumber, session: &Session, columns: usize) -> Lines {
    let (parts, previous) = (session.parts_of(turn.number), session.parts_of(base));
    let rows = rows_compared(turn, &parts, &previous, session);
    let mut lines = Vec::new();
    if turn.never_left() {
        lines.push((say!("This request was not sent.").to_owned(), Look::Bad));
    }
    if !previous.is_empty() {
        let head = if session.turn(base).is_some_and(Turn::never_left) {
            say!("── compared with turn {base}, which was not sent ──", base = base)
        } else {
            say!("── compared with turn {base} ──", base = base)
        };
        lines.push((head, Look::Dim));
    }
    lines.extend(self::lines(&rows, &parts, &previous, session, columns));
    lines
}

/// The difference; `rows` is the outline of `parts`.
fn lines(
    rows: &[Row],
    parts: &[Arc<Part>],
    previous: &[Arc<Part>],
    session: &Session,
    columns: usize,
) -> Lines {
    let head = |row: &Row, after: &str| {
        let room = columns.saturating_sub(text::width(after));
        format!("{}{after}", text::fit(&outline::line_within(row, room), room))
    };
    let mut lines = Vec::new();
    if previous.is_empty() {
        lines.push((say!("There is no turn before: everything is new.").to_owned(), Look::Dim));
    }
    let before = outline::outline(previous, &[], session);
    let mut same = 0;
    for row in rows {
        let old = before.iter().find(|old| is_place_of(&old.kind, &row.kind));
        if row.change == Change::Same {
            same += 1;
            continue;
        }
        say_same(&mut lines, &mut same);
        if row.change == Change::NotSent {
            lines.push((head(row, ""), Look::Dim));
            continue;
        }
        lines.push((head(row, ""), Look::Strong));
        let new = content(row, parts);
        match old {
            Some(old) if row.change == Change::Altered => {
                let from = lines.len();
                altered(&mut lines, &content(old, previous), &new);
                let commas = |line: &(String, Look)| matches!(line.0.as_str(), "+ ," | "- ,");
                if matches!(row.kind, RowKind::Envelope) && lines[from..].iter().all(commas) {
                    lines.truncate(from);
                    lines.push((say!("  only commas between messages").to_owned(), Look::Dim));
                }
            }
            _ => lines.extend(new.lines().map(|line| (format!("+ {line}"), Look::Good))),
        }
    }
    say_same(&mut lines, &mut same);
    for old in before {
        if !rows.iter().any(|row| is_place_of(&row.kind, &old.kind)) {
            let line = head(&old, say!("  no longer sent"));
            let rest = line.strip_prefix(Change::New.mark()).unwrap_or(&line);
            lines.push((format!("-{rest}"), Look::Bad));
        }
    }
    lines
}

/// Whether both stand at the same place of a body, whatever their role.
fn is_place_of(one: &RowKind, other: &RowKind) -> bool {
    match (one, other) {
        (RowKind::Message { number: one, .. }, RowKind::Message { number: other, .. }) => {
            one == other
        }
        _ => one == other,
    }
}

fn say_same(lines: &mut Lines, same: &mut usize) {
    match std::mem::take(same) {
        0 => {}
        1 => lines.push((say!("= 1 row as before").to_owned(), Look::Dim)),
        count => lines.push((say!("= {count} rows as before", count = count), Look::Dim)),
    }
}

/// A row's content, as readable as it gets.
fn content(row: &Row, parts: &[Arc<Part>]) -> String {
    let texts = row.parts.iter().map(|&index| &*parts[index].text);
    if matches!(row.kind, RowKind::Envelope) {
        return texts.collect::<Vec<_>>().join("\n");
    }
    let exact: String = texts.collect();
    readable(&exact).unwrap_or(exact)
}

/// What stands between the lines that both begin and both end with.
fn altered(lines: &mut Lines, old: &str, new: &str) {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let start = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let end = old[start..]
        .iter()
        .rev()
        .zip(new[start..].iter().rev())
        .take_while(|(old, new)| old == new)
        .count();
    for line in &old[start..old.len() - end] {
        lines.push((format!("- {line}"), Look::Bad));
    }
    for line in &new[start..new.len() - end] {
        lines.push((format!("+ {line}"), Look::Good));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::{Origin, Role, Slot};

    fn part(text: &str) -> Arc<Part> {
        let slot = Slot::MessageStart("user".to_owned());
        Arc::new(Part { origin: Origin::User, entry: None, slot, text: text.into() })
    }

    #[test]
    fn what_is_altered_left_out_or_gone_is_told_apart() {
        let (parts, previous) = (
            [part(r#"{"content":"a\nnew\nz"}"#)],
            [part(r#"{"content":"a\nold\nz"}"#), part(r#"{"content":"gone"}"#)],
        );
        let session = Session::default();
        let mut rows = outline::outline(&parts, &previous, &session);
        let kind = RowKind::NotSent(Role::User);
        rows.push(Row { kind, change: Change::NotSent, parts: Vec::new(), ..rows[0].clone() });
        let lines = lines(&rows, &parts, &previous, &session, 60);
        let texts: Vec<&str> = lines.iter().map(|(line, _)| line.as_str()).collect();
        assert!(texts[0].starts_with("~  1 user"), "{texts:?}");
        assert_eq!(texts[1..3], ["-   old", "+   new"]);
        assert!(texts[3].starts_with("-  · user"), "{texts:?}");
        assert!(texts[4].starts_with("-  2 user") && texts[4].ends_with("no longer sent"));
        assert_eq!(texts.len(), 5, "{texts:?}");
    }
}
