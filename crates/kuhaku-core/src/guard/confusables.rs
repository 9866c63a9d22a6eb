//! Characters that are not what they look like.

/// The Latin letter that a small Cyrillic or Greek letter looks like.
pub(super) fn latin_twin(c: char) -> Option<char> {
    Some(match c {
        'а' | 'α' | 'ɑ' => 'a',
        'в' | 'β' => 'b',
        'с' | 'ᴄ' => 'c',
        'ԁ' => 'd',
        'е' | 'ε' => 'e',
        'ɡ' | 'ց' => 'g',
        'һ' | 'н' | 'հ' => 'h',
        'і' | 'ι' | 'ӏ' | 'ɩ' => 'i',
        'ј' => 'j',
        'к' | 'κ' => 'k',
        'м' => 'm',
        'η' | 'ո' => 'n',
        'о' | 'ο' | 'σ' | 'օ' | 'ᴏ' => 'o',
        'р' | 'ρ' => 'p',
        'ԛ' => 'q',
        'г' => 'r',
        'ѕ' => 's',
        'т' | 'τ' => 't',
        'υ' | 'ս' | 'ᴜ' => 'u',
        'ν' | 'ѵ' => 'v',
        'ԝ' | 'ω' => 'w',
        'х' | 'χ' => 'x',
        'у' | 'γ' => 'y',
        _ => return None,
    })
}

/// Latin letters without a decomposition, as they are spelled without them.
pub(super) fn spelled_out(c: char) -> Option<&'static str> {
    Some(match c {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'ł' => "l",
        'đ' => "d",
        'ħ' => "h",
        _ => return None,
    })
}

/// True for letters of the Latin script.
pub(super) fn is_latin(c: char) -> bool {
    c.is_alphabetic()
        && (c.is_ascii() || matches!(c, '\u{aa}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}'))
}

/// Characters that draw nothing or only stretch a word: format characters, bidirectional controls,
/// variation selectors, tags, the Arabic tatweel.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{640}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}
