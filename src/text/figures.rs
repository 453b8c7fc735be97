//! Sizes and times, short enough for a row.

/// A size in bytes, short: `61 B`, `1.9 kB`, `48.1 kB`, `2.3 MB` (powers of 1,000).
pub fn bytes(n: u64) -> String {
    if n < 1000 {
        return format!("{n} B");
    }
    let mut unit_bytes: u128 = 1000;
    for unit in ["kB", "MB", "GB", "TB", "PB"] {
        let tenths = (u128::from(n) * 10 + unit_bytes / 2) / unit_bytes;
        if tenths < 10_000 {
            return format!("{}.{} {unit}", tenths / 10, tenths % 10);
        }
        unit_bytes *= 1000;
    }
    format!("{n} B")
}

/// A time given in milliseconds, short: `0.02 s`, `3.1 s`, `42 s`, `2 min 05 s`, `1 h 02 min`.
///
/// Rounded down, so that a running clock never shows a moment that has not come.
pub fn duration(ms: u64) -> String {
    let s = ms / 1000;
    match s {
        0 => format!("0.{:02} s", ms / 10),
        1..=9 => format!("{s}.{} s", ms % 1000 / 100),
        10..=59 => format!("{s} s"),
        60..=3599 => format!("{} min {:02} s", s / 60, s % 60),
        _ => format!("{} h {:02} min", s / 3600, s % 3600 / 60),
    }
}

/// A time given in milliseconds, to the millisecond: `0.024 s`, `61.500 s`.
pub fn milliseconds(ms: u64) -> String {
    format!("{}.{:03} s", ms / 1000, ms % 1000)
}

/// A time that has passed, short: `42 s`, `5 min`, `3 h`, `12 d`.
pub fn age(seconds: u64) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    match seconds {
        0..MINUTE => format!("{seconds} s"),
        MINUTE..HOUR => format!("{} min", seconds / MINUTE),
        HOUR..DAY => format!("{} h", seconds / HOUR),
        _ => format!("{} d", seconds / DAY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (n, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.0 kB"),
            (1949, "1.9 kB"),
            (1950, "2.0 kB"),
            (48_100, "48.1 kB"),
            (999_949, "999.9 kB"),
            (999_950, "1.0 MB"),
            (1_950_000, "2.0 MB"),
            (2_300_000, "2.3 MB"),
            (5_000_000_000, "5.0 GB"),
            (u64::MAX, "18446744073709551615 B"),
        ] {
            assert_eq!(bytes(n), text);
        }
    }

    #[test]
    fn times() {
        for (ms, text) in [
            (0, "0.00 s"),
            (24, "0.02 s"),
            (999, "0.99 s"),
            (3100, "3.1 s"),
            (9999, "9.9 s"),
            (42_000, "42 s"),
            (59_999, "59 s"),
            (125_000, "2 min 05 s"),
            (3_720_000, "1 h 02 min"),
        ] {
            assert_eq!(duration(ms), text);
        }
    }
}
