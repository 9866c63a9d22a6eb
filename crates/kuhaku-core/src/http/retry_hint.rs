//! How long a service asks callers to wait (RFC 9110, section 10.2.3, and what services do instead).

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;

/// Waits beyond this are cut to it; a caller's deadline comes first anyway.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// The wait that the headers ask for.
pub(super) fn in_headers<'a>(
    header: impl Fn(&str) -> Option<&'a str>,
    now: impl FnOnce() -> Timestamp,
) -> Option<Duration> {
    if let Some(wait) = header("retry-after-ms").and_then(|value| amount(value.trim(), 1e-3)) {
        return Some(wait);
    }
    let value = header("retry-after")?.trim();
    if let Some(wait) = amount(value, 1.0) {
        return Some(wait);
    }
    let then = date(value)?;
    let now = header("date").and_then(date).unwrap_or_else(now);
    let wait = Duration::try_from(then.duration_since(now)).unwrap_or_default();
    Some(wait.min(LONGEST))
}

fn date(text: &str) -> Option<Timestamp> {
    DateTimeParser::new().relaxed_weekday(true).parse_timestamp(text.trim()).ok()
}

fn amount(text: &str, unit: f64) -> Option<Duration> {
    // `parse` would take "inf", "nan" and exponents.
    if !text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    let seconds = text.parse::<f64>().ok()? * unit;
    Some(Duration::try_from_secs_f64(seconds).map_or(LONGEST, |wait| wait.min(LONGEST)))
}

/// The wait that an explanation names, in the words that services use: a duration after "try again
/// in", "retry in" or "retry after", such as `1.5s`, `20ms`, `1m2.5s`, `7 seconds`; or the whole
/// text if it is a duration (`"12s"`, as in Google's `retryDelay`).
///
/// ```
/// use std::time::Duration;
/// use kuhaku_core::retry_hint_in_text;
/// let text = "Rate limit reached. Please try again in 1m2.5s. Visit the site for more.";
/// assert_eq!(retry_hint_in_text(text), Some(Duration::from_millis(62_500)));
/// assert_eq!(retry_hint_in_text("12s"), Some(Duration::from_secs(12)));
/// assert_eq!(retry_hint_in_text("You have 3 seconds in 1 s."), None);
/// ```
pub fn retry_hint_in_text(text: &str) -> Option<Duration> {
    const LEADS: [&str; 3] = ["try again in ", "retry in ", "retry after "];
    let lower = text.to_ascii_lowercase();
    let after = |lead: &str| lower.split_once(lead).and_then(|(_, rest)| leading_duration(rest));
    if let Some((wait, _)) = LEADS.iter().find_map(|lead| after(lead)) {
        return Some(wait);
    }
    let (wait, rest) = leading_duration(lower.trim())?;
    rest.is_empty().then_some(wait)
}

/// The duration at the beginning of a text, and what follows it.
fn leading_duration(text: &str) -> Option<(Duration, &str)> {
    let mut rest = text;
    let mut total = None;
    while let Some((part, after)) = leading_part(rest) {
        total = Some(total.unwrap_or(Duration::ZERO).saturating_add(part).min(LONGEST));
        rest = after;
    }
    total.map(|total| (total, rest))
}

fn leading_part(text: &str) -> Option<(Duration, &str)> {
    let text = text.trim_start();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, rest) = text.split_at(digits);
    let rest = rest.trim_start();
    let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    let (unit, rest) = rest.split_at(letters);
    let seconds = match unit {
        "ms" | "millisecond" | "milliseconds" => 1e-3,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hour" | "hours" => 3600.0,
        _ => return None,
    };
    Some((amount(number, seconds)?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(headers: &[(&str, &'static str)]) -> Option<Duration> {
        let find = |name: &str| headers.iter().find(|(known, _)| *known == name).map(|(_, v)| *v);
        in_headers(find, || "1994-11-06T08:49:07Z".parse().unwrap())
    }

    /// RTY-04: the forms of the header.
    #[test]
    fn headers_name_a_wait_in_seconds_in_milliseconds_or_as_a_date() {
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        let then = "Sun, 06 Nov 1994 08:49:37 GMT";
        for (headers, expected) in [
            (&[("retry-after", "2")][..], seconds(2)),
            (&[("retry-after", " 0 ")], seconds(0)),
            (&[("retry-after", "1.5")], Some(Duration::from_millis(1500))),
            (&[("retry-after-ms", "250"), ("retry-after", "9")], Some(Duration::from_millis(250))),
            (&[("retry-after", then)], seconds(30)),
            (&[("retry-after", then), ("date", "Sun, 06 Nov 1994 08:49:32 GMT")], seconds(5)),
            (&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")], seconds(0)),
            (&[("retry-after", "999999999999999999999999")], Some(LONGEST)),
            (&[("retry-after", "-1")], None),
            (&[("retry-after", "inf")], None),
            (&[("retry-after", "1e9")], None),
            (&[("retry-after", ".")], None),
            (&[("retry-after", "")], None),
            (&[("retry-after", "soon")], None),
            (&[], None),
        ] {
            assert_eq!(wait(headers), expected, "{headers:?}");
        }
    }

    #[test]
    fn explanations_name_a_wait_in_words() {
        for (text, milliseconds) in [
            ("Please try again in 20ms.", Some(20)),
            ("Please Try Again In 6m0s. Limit 3", Some(360_000)),
            ("retry after 7 seconds", Some(7_000)),
            ("Please retry in 57.198s.", Some(57_198)),
            ("34.5s", Some(34_500)),
            ("1h 2m", Some(3_720_000)),
            ("try again in a moment", None),
            ("try again in 5", None),
            ("try again in 5 apples", None),
            ("in 3 s", None),
            ("3", None),
            ("", None),
            ("try again in ...s", None),
        ] {
            let expected = milliseconds.map(Duration::from_millis);
            assert_eq!(retry_hint_in_text(text), expected, "{text}");
        }
    }
}
