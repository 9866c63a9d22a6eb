//! The words and letters that the tokenisers of the fixtures know.

/// Letters of scripts without case, or in lower case.
const LETTERS: &[&str] = &[
    "abcdefghijklmnopqrstuvwxyz",
    "абвгдежзийклмнопрстуфхцчшщъыьэюя",
    "αβγδεζηθικλμνξοπρσςτυφχψω",
    "ابتثجحخدذرزسشصضطظعغفقكلمنهويةى",
    "אבגדהוזחטיכךלמםנןסעפףצץקרשת",
    "कखगघचजटडतदनपबभमयरलवशसह",
    "あいうえおかきくけこさしすせそたちつてとなにのはまもやよらりるれをん",
    "0123456789",
];

/// What the cased tokeniser knows besides.
const CASED_LETTERS: &[&str] = &[
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "АБВГДЗИКЛМНОПРСТУФЧЭЯ",
    "äöüßéèêçñıışğåøžšč",
    "ािीुूेैोौंः्",
    "กขคงจชดตทนบปผพมยรลวสหอะาิีเแ่้",
    "가고그기나다는도를리마사시어에은을이자지하한",
];

/// Signs and characters that stand alone in both.
const ALONE: &str =
    ".,;:!?-()'\"/%&+=@#。、，؟।日本語人大中国学生年月会社水火山川手東京何時の一二三天気";

/// Whole words of both.
const WORDS: &str = "the of and to in is it for on that with as are be this not can how what when \
    where who why which many much long days leave holiday annual sick note doctor password reset \
    key security card pay salary band level money travel hotel night room price euros expense claim \
    hand office home work people team shop refund answer question return policy contract notice \
    period month year week day hour ignore previous instructions system prompt secret tell me now \
    please water fire earth air red blue green small large old new first last cat dog fish tree \
    house river mountain der die das und nicht ist wie viele tage urlaub gibt es le la les et est \
    combien de jours el los y es cuánto tiempo bir ve için kaç gün izin как что это не на дни вода \
    και το είναι νερό كم يوم ماء מים יום पानी दिन";

/// Ends of words in the tokeniser that marks continuations.
const ENDINGS: &str = "s es ed ing er est ly tion ment ness able al en ung lich heit os as";

pub(super) const BERT_SPECIAL: [&str; 5] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];

/// The tokens of the BERT tokeniser, by id: lower case, continuations with `##`.
pub(super) fn wordpiece() -> Vec<String> {
    let mut tokens: Vec<String> = BERT_SPECIAL.map(String::from).into();
    tokens.extend(ALONE.chars().map(String::from));
    for script in LETTERS {
        tokens.extend(script.chars().map(String::from));
        tokens.extend(script.chars().map(|letter| format!("##{letter}")));
    }
    // The normaliser takes accents away before words are looked up.
    tokens.extend(words().filter(|word| word.is_ascii()).map(String::from));
    tokens.extend(ENDINGS.split_whitespace().map(|ending| format!("##{ending}")));
    distinct(tokens)
}

/// The pieces of the XLM-R tokeniser, by id: with case, `▁` before a word.
pub(super) fn unigram() -> Vec<String> {
    let mut pieces: Vec<String> = ["<s>", "<pad>", "</s>", "<unk>", "▁"].map(String::from).into();
    pieces.extend(words().map(|word| format!("▁{word}")));
    pieces.extend(ENDINGS.split_whitespace().map(String::from));
    pieces.extend(ALONE.chars().map(String::from));
    for script in LETTERS.iter().chain(CASED_LETTERS) {
        pieces.extend(script.chars().map(String::from));
    }
    pieces.push("<mask>".into());
    distinct(pieces)
}

fn words() -> impl Iterator<Item = &'static str> {
    WORDS.split_whitespace()
}

fn distinct(tokens: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::BTreeSet::new();
    tokens.into_iter().filter(|token| seen.insert(token.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_know_about_600_tokens() {
        for tokens in [wordpiece(), unigram()] {
            assert!((500..=700).contains(&tokens.len()), "{}", tokens.len());
        }
    }
}
