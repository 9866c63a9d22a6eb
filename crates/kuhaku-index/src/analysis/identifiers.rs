//! Where the parts of an identifier begin: at underscores and where the case changes.

use std::ops::Range;

/// The parts of a word without connectors, when there are at least two.
///
/// A change of case parts `getUserName` and `HTTPServer`, but not `mRNA` or `iPhone`: a single
/// letter is not split off.
pub(super) fn parts(word: &str, offset: usize, emit: &mut dyn FnMut(Range<usize>)) {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut from = 0;
    for section in word.split('_') {
        by_case(section, from, &mut found);
        from += section.len() + 1;
    }
    let same = found.len() == 1 && found.first().is_some_and(|only| only.len() == word.len());
    if !same {
        found.into_iter().for_each(|part| emit(part.start + offset..part.end + offset));
    }
}

fn by_case(section: &str, offset: usize, found: &mut Vec<Range<usize>>) {
    let chars: Vec<(usize, char)> = section.char_indices().collect();
    let mut start = 0;
    let mut length = 0;
    let mut borders = Vec::new();
    for (place, (at, c)) in chars.iter().enumerate() {
        let before = place.checked_sub(1).and_then(|i| chars.get(i)).map(|(_, c)| *c);
        let after = chars.get(place + 1).map(|(_, c)| *c);
        let rises = before.is_some_and(char::is_lowercase) && c.is_uppercase();
        let turns = before.is_some_and(char::is_uppercase)
            && c.is_uppercase()
            && after.is_some_and(char::is_lowercase);
        if (rises || turns) && length >= 2 && chars.len() - place >= 2 {
            borders.push(*at);
            length = 0;
        }
        length += 1;
    }
    for border in borders.into_iter().chain([section.len()]) {
        if border > start {
            found.push(start + offset..border + offset);
        }
        start = border;
    }
}
