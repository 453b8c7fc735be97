//! Server-sent events: bytes in any portions become whole events.
//!
//! Follows the event stream format of the HTML standard: lines end with LF, CR or CRLF; a line
//! that starts with a colon is a comment; several `data` lines are joined by LF; an event without
//! data is not dispatched; a byte order mark may come first. One thing is done on purpose
//! differently: an event that lacks its blank line at the end of the stream is dispatched, because
//! servers leave it out ([`Parser::finish`]).
//!
//! What an event means is the format's business; so are `[DONE]` and broken JSON.

use std::ops::ControlFlow;

use memchr::memchr2;

/// The longest line, and the longest data of one event, in bytes.
pub(super) const CAP: usize = 10 * 1024 * 1024;

/// One event.
#[derive(Debug)]
pub(super) struct Event<'a> {
    /// The value of its `event` field; empty if it has none.
    pub(super) name: &'a [u8],
    /// Its `data` lines, joined by LF; never empty.
    pub(super) data: &'a [u8],
    /// Bytes of the stream up to and with the event's last line.
    pub(super) end: u64,
}

/// A line or the data of one event is longer than [`CAP`].
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

/// What is known of the stream so far.
#[derive(Debug, Default)]
pub(super) struct Parser {
    /// Bytes taken so far.
    read: u64,
    /// The start of a line whose end has not arrived.
    line: Vec<u8>,
    name: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// The last line ended with CR: an LF that follows belongs to it.
    after_cr: bool,
    after_first_line: bool,
}

impl Parser {
    /// Takes the next bytes and hands each event that is complete to `on_event`, until that says
    /// `Break`; what follows in `bytes` is then left unread.
    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        mut on_event: impl FnMut(&Event<'_>) -> ControlFlow<()>,
    ) -> Result<(), TooLong> {
        let mut rest = bytes;
        while let Some(&first) = rest.first() {
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                rest = &rest[1..];
                self.read += 1;
                continue;
            }
            let end = memchr2(b'\n', b'\r', rest);
            let piece = &rest[..end.unwrap_or(rest.len())];
            if self.line.len() + piece.len() > CAP {
                return Err(TooLong);
            }
            let Some(end) = end else {
                self.line.extend_from_slice(piece);
                self.read += piece.len() as u64;
                return Ok(());
            };
            self.read += end as u64 + 1;
            self.after_cr = rest[end] == b'\r';
            rest = &rest[end + 1..];
            let flow = if self.line.is_empty() {
                self.take_line(piece, &mut on_event)?
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(piece);
                let flow = self.take_line(&line, &mut on_event)?;
                line.clear();
                self.line = line;
                flow
            };
            if flow.is_break() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The stream has ended: hands over the event that lacks its end, if there is one. It may have
    /// been cut anywhere.
    pub(super) fn finish(
        mut self,
        mut on_event: impl FnMut(&Event<'_>) -> ControlFlow<()>,
    ) -> Result<(), TooLong> {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() && self.take_line(&line, &mut on_event)?.is_break() {
            return Ok(());
        }
        let _ = self.dispatch(&mut on_event);
        Ok(())
    }

    fn take_line(
        &mut self,
        line: &[u8],
        on_event: &mut impl FnMut(&Event<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, TooLong> {
        let line = if std::mem::replace(&mut self.after_first_line, true) {
            line
        } else {
            line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line)
        };
        if line.is_empty() {
            return Ok(self.dispatch(on_event));
        }
        let (field, value) = match line.iter().position(|&byte| byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if self.data.len() + value.len() >= CAP {
                    return Err(TooLong);
                }
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                self.data.extend_from_slice(value);
            }
            b"event" => {
                self.name.clear();
                self.name.extend_from_slice(value);
            }
            _ => {}
        }
        Ok(ControlFlow::Continue(()))
    }

    fn dispatch(
        &mut self,
        on_event: &mut impl FnMut(&Event<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let flow = if self.data.is_empty() {
            ControlFlow::Continue(())
        } else {
            on_event(&Event { name: &self.name, data: &self.data, end: self.read })
        };
        self.name.clear();
        self.data.clear();
        self.has_data = false;
        flow
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(pieces: &[&[u8]]) -> Vec<(String, String)> {
        let mut seen = Vec::new();
        let mut take = |event: &Event<'_>| {
            seen.push((
                String::from_utf8(event.name.to_vec()).unwrap(),
                String::from_utf8(event.data.to_vec()).unwrap(),
            ));
            ControlFlow::Continue(())
        };
        let mut parser = Parser::default();
        for piece in pieces {
            parser.feed(piece, &mut take).unwrap();
        }
        parser.finish(&mut take).unwrap();
        seen
    }

    fn event(name: &str, data: &str) -> (String, String) {
        (name.to_owned(), data.to_owned())
    }

    #[test]
    fn every_shape_of_the_standard_and_every_split() {
        let cases: &[(&str, Vec<(String, String)>)] = &[
            ("data: a\n\ndata:b\n\n", vec![event("", "a"), event("", "b")]),
            ("data: a\r\n\r\ndata: b\r\n\r\n", vec![event("", "a"), event("", "b")]),
            ("data: a\r\rdata: b\r\r", vec![event("", "a"), event("", "b")]),
            ("data: a\ndata: b\r\ndata\rdata:  c\n\n", vec![event("", "a\nb\n\n c")]),
            ("\u{FEFF}data: a\n\n\u{FEFF}data: b\n\n", vec![event("", "a")]),
            (": ping\n\nid: 7\nretry: 1\nother: x\ndata: é🎉\n\n", vec![event("", "é🎉")]),
            ("event: error\ndata: x\n\ndata: y\n\n", vec![event("error", "x"), event("", "y")]),
            ("event: ping\n\ndata:\n\ndata: last", vec![event("", "last")]),
            ("data: a\n\ndata: last\n", vec![event("", "a"), event("", "last")]),
            ("", vec![]),
        ];
        for (text, expected) in cases {
            let bytes = text.as_bytes();
            assert_eq!(&events(&[bytes]), expected, "{text:?} whole");
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(&events(&single), expected, "{text:?} by single bytes");
            for cut in 0..=bytes.len() {
                let (left, right) = bytes.split_at(cut);
                assert_eq!(&events(&[left, right]), expected, "{text:?} cut at {cut}");
            }
        }
    }

    #[test]
    fn a_break_leaves_the_rest_unread() {
        let mut seen = 0;
        let mut parser = Parser::default();
        let result = parser.feed(b"data: a\n\ndata: b\n\n", |_| {
            seen += 1;
            ControlFlow::Break(())
        });
        assert_eq!((result, seen), (Ok(()), 1));
    }

    #[test]
    fn a_line_without_end_is_given_up() {
        let mut parser = Parser::default();
        let piece = vec![b'x'; 1024 * 1024];
        let results: Vec<_> =
            (0..11).map(|_| parser.feed(&piece, |_| ControlFlow::Continue(()))).collect();
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 10);
        assert_eq!(results.last(), Some(&Err(TooLong)));
    }

    #[test]
    fn an_event_of_many_lines_is_given_up_too() {
        let mut parser = Parser::default();
        let mut line = b"data: ".to_vec();
        line.extend(vec![b'x'; 1024 * 1024]);
        line.push(b'\n');
        let failed = (0..11).any(|_| parser.feed(&line, |_| ControlFlow::Continue(())).is_err());
        assert!(failed);
    }
}
