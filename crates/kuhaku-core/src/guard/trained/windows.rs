//! The parts of a text that are judged each for itself.

use std::ops::Range;

/// Characters in a window. A request hidden in a long text fills a window of about its own size.
const SIZES: [usize; 3] = [96, 192, 384];

/// A window begins so many times within the length of the one before: whatever is no longer than three
/// quarters of a window stands whole in one.
const OVERLAP: usize = 4;

/// The shortest sentence that is judged for itself, in characters.
const SENTENCE: usize = 12;

/// Calls `window` with each window of a text of `length` characters: windows of three sizes, and each
/// sentence. `ends` are the places behind full stops, in ascending order. The number of windows is linear
/// in the length; a text has at least one.
pub(super) fn windows(length: usize, ends: &[usize], mut window: impl FnMut(Range<usize>)) {
    let mut smaller = 0;
    for size in SIZES {
        if smaller > 0 && length <= smaller {
            break;
        }
        let mut start = 0;
        loop {
            let end = (start + size).min(length);
            window(start..end);
            if end == length {
                break;
            }
            start += size / OVERLAP;
        }
        smaller = size;
    }
    let mut start = 0;
    for end in ends.iter().copied().chain([length]) {
        if end.saturating_sub(start) >= SENTENCE && end - start < length {
            window(start..end);
        }
        start = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(length: usize, ends: &[usize]) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        windows(length, ends, |window| found.push(window));
        found
    }

    #[test]
    fn a_short_text_is_one_window_and_so_is_an_empty_one() {
        assert_eq!(all(0, &[]), std::slice::from_ref(&(0..0)));
        assert_eq!(all(96, &[]), std::slice::from_ref(&(0..96)));
        assert_eq!(all(40, &[20]), [0..40, 0..20, 20..40]);
    }

    /// RK-53
    #[test]
    fn what_fits_three_quarters_of_a_window_is_whole_in_one_wherever_it_begins() {
        for (payload, size) in [(72, 96), (144, 192), (150, 384), (288, 384)] {
            for start in 0..1000 - payload {
                let found = all(1000, &[]);
                let whole = found.iter().any(|window| {
                    window.len() <= size && window.start <= start && start + payload <= window.end
                });
                assert!(whole, "{payload} characters at {start}");
            }
        }
    }

    /// RK-53
    #[test]
    fn a_sentence_is_whole_in_a_window_of_its_own() {
        assert!(all(1000, &[180, 330, 900]).contains(&(180..330)));
        assert!(all(1000, &[180, 330, 900]).contains(&(330..900)));
    }

    /// RK-52: linear, and every character is in some window.
    #[test]
    fn windows_cover_the_text_and_grow_with_it_linearly() {
        for length in [97, 500, 5_000] {
            let found = all(length, &[]);
            assert!((0..length).all(|at| found.iter().any(|window| window.contains(&at))));
            assert!(found.len() <= 1 + length / 10, "{length}: {}", found.len());
        }
    }
}
