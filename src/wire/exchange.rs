//! A response as it arrived: its raw bytes in events, each with the time at which its last byte
//! came. For showing; what the events mean is the decoders'.

use super::ResponseHead;

/// What is kept of an attempt's response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// Its bytes.
    Response(KeptResponse),
    /// No answer came, or none yet.
    NoAnswer,
    /// The session is not saved, so nothing is kept.
    NotSaved,
    /// It cannot be read; why.
    Unreadable(String),
}

/// A response that was kept. Of a long one the middle is left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeptResponse {
    /// Status and headers.
    pub head: ResponseHead,
    /// The body's first bytes; all of them, if none are left out.
    pub first: Vec<u8>,
    /// Bytes left out after those.
    pub omitted: u64,
    /// The body's last bytes.
    pub last: Vec<u8>,
    /// When which portion came, in order.
    pub arrivals: Vec<Arrival>,
}

/// When a portion of a body came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Bytes of the body before it.
    pub offset: u64,
    /// Milliseconds since the request was posted.
    pub ms: u64,
}

/// A run of bytes of a body: an event of a stream with its end, or what came at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawEvent<'a> {
    /// Bytes of the body before it.
    pub start: u64,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// When the last of them came, in milliseconds since posting; `None` if that is not known.
    pub ms: Option<u64>,
}

impl RawEvent<'_> {
    /// Bytes of the body up to its end.
    pub fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

impl KeptResponse {
    /// Length of the body.
    pub fn bytes(&self) -> u64 {
        self.first.len() as u64 + self.omitted + self.last.len() as u64
    }

    /// The events of the first part.
    pub fn first_events(&self) -> Vec<RawEvent<'_>> {
        self.events(&self.first, 0)
    }

    /// The events of the last part, the first of which may lack its start; none if nothing is left
    /// out.
    pub fn last_events(&self) -> Vec<RawEvent<'_>> {
        self.events(&self.last, self.first.len() as u64 + self.omitted)
    }

    fn events<'a>(&'a self, bytes: &'a [u8], start: u64) -> Vec<RawEvent<'a>> {
        let is_stream = !matches!(self.first.trim_ascii_start().first(), Some(b'{' | b'[' | b'<'));
        let mut events = Vec::new();
        let mut from = 0;
        while from < bytes.len() {
            let length = if is_stream {
                event_length(&bytes[from..])
            } else {
                self.portion_length(start + from as u64).min(bytes.len() - from)
            };
            let event = &bytes[from..from + length];
            let end = start + (from + length) as u64;
            events.push(RawEvent { start: start + from as u64, bytes: event, ms: self.came(end) });
            from += length;
        }
        events
    }

    /// How much came at once, from a byte of the body on.
    fn portion_length(&self, from: u64) -> usize {
        let next = self.arrivals.partition_point(|arrival| arrival.offset <= from);
        let next = self.arrivals.get(next).map_or(u64::MAX, |arrival| arrival.offset);
        usize::try_from(next - from).unwrap_or(usize::MAX)
    }

    /// When the byte before `end` came.
    fn came(&self, end: u64) -> Option<u64> {
        let after = self.arrivals.partition_point(|arrival| arrival.offset < end);
        Some(self.arrivals.get(after.checked_sub(1)?)?.ms)
    }
}

/// The length of the first event: up to and with its blank line, or what follows it.
fn event_length(bytes: &[u8]) -> usize {
    let mut line_start = 0;
    let mut seen_text = false;
    while let Some(length) = bytes[line_start..].iter().position(|b| matches!(b, b'\n' | b'\r')) {
        let end = line_start + length;
        let crlf = bytes[end] == b'\r' && bytes.get(end + 1) == Some(&b'\n');
        let next = end + if crlf { 2 } else { 1 };
        if length > 0 {
            seen_text = true;
        } else if seen_text {
            return next;
        }
        line_start = next;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(body: &str, arrivals: &[(u64, u64)]) -> KeptResponse {
        KeptResponse {
            first: body.as_bytes().to_vec(),
            arrivals: arrivals.iter().map(|&(offset, ms)| Arrival { offset, ms }).collect(),
            ..KeptResponse::default()
        }
    }

    fn shown(kept: &KeptResponse) -> Vec<(String, Option<u64>)> {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        kept.first_events().iter().map(|event| (text(event.bytes), event.ms)).collect()
    }

    #[test]
    fn an_event_has_the_time_of_its_last_byte() {
        let body = "data: a\n\n: ping\n\ndata: b\r\n\r\n\r\ndata: c";
        let split = [(0, 5), (3, 7), (9, 9), (17, 30), (31, 44)];
        let expected = [
            ("data: a\n\n", Some(7)),
            (": ping\n\n", Some(9)),
            ("data: b\r\n\r\n", Some(30)),
            ("\r\ndata: c", Some(44)),
        ]
        .map(|(text, ms)| (text.to_owned(), ms));
        assert_eq!(shown(&kept(body, &split)), expected);
        let unknown: Vec<_> = shown(&kept(body, &[])).into_iter().map(|event| event.1).collect();
        assert_eq!(unknown, [None; 4]);
    }

    #[test]
    fn what_is_no_stream_is_shown_as_it_came() {
        let kept = kept("{\"a\":\n\n1}", &[(0, 5), (4, 7)]);
        let expected = [("{\"a\"", Some(5)), (":\n\n1}", Some(7))];
        assert_eq!(shown(&kept), expected.map(|(text, ms)| (text.to_owned(), ms)));
    }

    #[test]
    fn all_events_add_up_to_the_body() {
        for body in ["", "\n", "\r", "a", "a\r\n\rb\n\n\n", "\n\ndata: x\n\ndata", "{}\n", "\r\r\r"]
        {
            let kept = kept(body, &[(0, 1)]);
            let all: Vec<u8> =
                kept.first_events().iter().flat_map(|event| event.bytes.to_vec()).collect();
            assert_eq!(all, body.as_bytes(), "{body:?}");
        }
    }
}
