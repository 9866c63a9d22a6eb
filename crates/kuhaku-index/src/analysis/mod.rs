//! How text becomes terms (D18, D19).
//!
//! A scanner finds pieces of text; a piece becomes a term by folding, stop words and stemming. The
//! term depends on the letters of the piece alone, so indexing remembers it per piece.

mod fold;
mod identifiers;
mod memo;
mod pieces;
mod porter;
mod runs;
mod scripts;
mod stop_words;
mod words;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use rust_stemmers::Stemmer;

pub(crate) use self::memo::QueryMemo;
use self::pieces::Pieces;
use self::words::Words;
use crate::fingerprint::{Language, Tokenizer};

/// The longest term, in bytes; longer ones are cut to their beginning.
const MAX_TERM: usize = 255;
/// The longest word that is stemmed, in bytes.
const MAX_STEMMED: usize = 96;

/// A term and where it stood.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Token {
    /// The term: folded and stemmed, 1 to 255 bytes.
    pub term: String,
    /// Its bytes in the text.
    pub range: Range<usize>,
    /// It is a part of a compound that has a token of its own; it adds nothing to the length (D19).
    pub part: bool,
}

/// A term of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueryTerm {
    /// The term, as the index writes it.
    pub term: String,
    /// How often it counts: once, but in the tokenizer `simple` as often as it stands in the query.
    pub count: u32,
}

/// A piece of text that makes at most one term.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece {
    range: Range<usize>,
    part: bool,
    /// Stored, but not searched for: its neighbours say more.
    stored_only: bool,
}

impl Piece {
    fn whole(range: Range<usize>) -> Self {
        Self { range, part: false, stored_only: false }
    }

    fn part(range: Range<usize>) -> Self {
        Self { range, part: true, stored_only: false }
    }
}

/// Turns text into terms, the same way for documents and queries.
///
/// ```
/// use kuhaku_index::{Analyzer, Language, Tokenizer};
/// let analyzer = Analyzer::new(Tokenizer::Default, Language::En);
/// let terms: Vec<_> = analyzer.tokens("The PAY-6006 failures").into_iter().map(|t| t.term).collect();
/// assert_eq!(terms, ["pay-6006", "pay", "6006", "failur"]);
/// ```
#[derive(Clone)]
pub struct Analyzer {
    tokenizer: Tokenizer,
    language: Language,
    stemmer: Option<Arc<Stemmer>>,
}

impl fmt::Debug for Analyzer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Analyzer({}, {})", self.tokenizer, self.language)
    }
}

impl Analyzer {
    /// The analyzer of an index with this tokenizer and language. The language acts in the
    /// tokenizer `default` only.
    pub fn new(tokenizer: Tokenizer, language: Language) -> Self {
        let stemmer = fold::algorithm(language)
            .filter(|_| tokenizer == Tokenizer::Default)
            .map(|algorithm| Arc::new(Stemmer::create(algorithm)));
        Self { tokenizer, language, stemmer }
    }

    /// The tokens of a document's text in order, stop words and placeholders left out. A compound
    /// comes before its parts.
    pub fn tokens(&self, text: &str) -> Vec<Token> {
        let mut tokens = Vec::new();
        let mut term = String::new();
        self.pieces(text, &mut Words::new(), &mut |piece| {
            if let Some(raw) = text.get(piece.range.clone())
                && self.term(raw, &mut term)
            {
                let Piece { range, part, .. } = piece;
                tokens.push(Token { term: term.clone(), range, part });
            }
        });
        tokens
    }

    /// The distinct terms of a query, in the order in which they first stand there.
    pub fn query_terms(&self, text: &str) -> Vec<QueryTerm> {
        let mut terms = Vec::new();
        self.each_query_term(text, &mut QueryMemo::default(), &mut |term, count| {
            terms.push(QueryTerm { term: term.to_owned(), count });
        });
        terms
    }

    /// Finds the pieces of `text`, in order.
    fn pieces(&self, text: &str, words: &mut Words, emit: &mut dyn FnMut(Piece)) {
        match self.tokenizer {
            Tokenizer::Simple | Tokenizer::Porter => runs::scan(text, emit),
            Tokenizer::Default => words::scan(text, self.language, words, emit),
        }
    }

    /// Writes the term of a piece; false when it has none.
    fn term(&self, raw: &str, term: &mut String) -> bool {
        term.clear();
        match self.tokenizer {
            Tokenizer::Simple => fold::lower_case(raw, term),
            Tokenizer::Porter => {
                fold::lower_case(raw, term);
                if stop_words::is_lucene(term) {
                    return false;
                }
                if term.len() <= MAX_STEMMED {
                    porter::stem(term);
                }
            }
            Tokenizer::Default => {
                fold::before_stemming(raw, self.language, term);
                if stop_words::contains(self.language, term) {
                    return false;
                }
                if let Some(stemmer) = &self.stemmer
                    && term.len() <= MAX_STEMMED
                    && fold::is_plain_word(term)
                {
                    let stem = stemmer.stem(term).into_owned();
                    if !stem.is_empty() {
                        *term = stem;
                    }
                }
                fold::after_stemming(term);
            }
        }
        term.truncate(term.floor_char_boundary(MAX_TERM));
        !term.is_empty()
    }
}

/// Remembers the term of each piece, by a number that the caller gives. For one analyzer.
#[derive(Debug, Default)]
pub(crate) struct TermCache {
    known: Pieces<Option<u32>>,
    term: String,
    words: Words,
}

impl TermCache {
    /// Pieces remembered at most; text of another kind starts over.
    pub(crate) const CAPACITY: usize = 1 << 17;

    /// Calls `found` with the number of each term of the text and whether it is a part of a
    /// compound. `number` gives the number of a term; the same term must get the same one.
    pub(crate) fn each(
        &mut self,
        analyzer: &Analyzer,
        text: &str,
        number: &mut dyn FnMut(&str) -> u32,
        found: &mut dyn FnMut(u32, bool),
    ) {
        let Self { known, term, words } = self;
        analyzer.pieces(text, words, &mut |piece| {
            let Some(raw) = text.get(piece.range) else { return };
            if known.len() >= Self::CAPACITY {
                known.clear();
            }
            let id = known.get_or(raw, || analyzer.term(raw, term).then(|| number(term)));
            if let Some(id) = id {
                found(id, piece.part);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(tokenizer: Tokenizer, language: Language, text: &str) -> Vec<String> {
        let tokens = Analyzer::new(tokenizer, language).tokens(text);
        tokens.into_iter().map(|token| token.term).collect()
    }

    fn english(text: &str) -> Vec<String> {
        terms(Tokenizer::Default, Language::En, text)
    }

    /// SPS-01
    #[test]
    fn simple_terms_are_lower_case_runs_of_word_characters() {
        let table: &[(&str, &[&str])] = &[
            ("PAY-6006", &["pay", "6006"]),
            ("ödeme başarısız", &["ödeme", "başarısız"]),
            ("don't", &["don", "t"]),
            ("Gateway TIMEOUT", &["gateway", "timeout"]),
            ("snake_case", &["snake_case"]),
            ("", &[]),
        ];
        for (text, expected) in table {
            assert_eq!(terms(Tokenizer::Simple, Language::En, text), *expected, "{text}");
        }
    }

    /// SPS-01: what the default tokenizer finds where plain runs do not.
    #[test]
    fn other_spellings_of_a_word_give_the_same_term() {
        for (left, right) in [
            ("İSTANBUL", "istanbul"),
            ("café", "cafe"),
            ("École", "E\u{301}cole"),
            ("ＦＵＬＬ", "full"),
            ("Straße", "STRASSE"),
            ("résumés", "resumes"),
            ("co\u{ad}operate", "cooperate"),
            ("don’t-stop", "don't-stop"),
            ("ΟΔΟΣ", "οδος"),
        ] {
            assert_eq!(english(left), english(right), "{left}");
            assert!(!english(left).is_empty(), "{left}");
        }
        for (left, right) in [("ISPARTA", "ısparta"), ("İSTANBUL", "istanbul")] {
            let turkish = |text| terms(Tokenizer::Default, Language::Tr, text);
            assert_eq!(turkish(left), turkish(right), "{left}");
        }
    }

    /// RK-25
    #[test]
    fn porter_terms_are_stems_without_stop_words() {
        let table = [
            ("mutations", "mutat"),
            ("mutation", "mutat"),
            ("running", "run"),
            ("relational", "relat"),
            ("organization", "organ"),
            ("flies", "fli"),
            ("dying", "dy"),
            ("ponies", "poni"),
            ("caresses", "caress"),
            ("generically", "gener"),
            ("happily", "happili"),
        ];
        for (word, stem) in table {
            assert_eq!(terms(Tokenizer::Porter, Language::En, word), [stem]);
        }
        assert_eq!(terms(Tokenizer::Porter, Language::En, "The cat and that IDs"), ["cat", "id"]);
    }

    #[test]
    fn a_compound_of_stop_words_is_one() {
        let french = |text| terms(Tokenizer::Default, Language::Fr, text);
        assert!(french("est-ce que celui-ci").is_empty());
        assert_eq!(french("porte-avions")[0], "porte-avions");
        assert_eq!(english("how-to"), ["how-to"]);
    }

    /// RK-26
    #[test]
    fn words_with_combining_marks_stay_whole_and_east_asian_text_is_found_inside() {
        assert_eq!(english("हिन्दी भाषा"), ["हिन्दी", "भाषा"]);
        let analyzer = Analyzer::new(Tokenizer::Default, Language::En);
        for (query, text) in [
            ("東京", "東京タワー is tall"),
            ("日本語", "日本語テスト"),
            ("東", "東京"),
            ("ไทย", "ภาษาไทย"),
        ] {
            let stored: Vec<_> = analyzer.tokens(text).into_iter().map(|t| t.term).collect();
            let wanted = analyzer.query_terms(query);
            assert!(!wanted.is_empty(), "{query}");
            assert!(wanted.iter().all(|t| stored.contains(&t.term)), "{query} in {stored:?}");
        }
        let searched: Vec<_> = analyzer.query_terms("東京タ").into_iter().map(|t| t.term).collect();
        assert_eq!(searched, ["東京", "京タ"]);
    }

    #[test]
    fn identifiers_are_kept_whole_and_split() {
        let table: &[(&str, &[&str])] = &[
            ("PAY-6006", &["pay-6006", "pay", "6006"]),
            ("snake_case", &["snake_case", "snake", "case"]),
            ("HttpRequest", &["httprequest", "http", "request"]),
            ("getUserName", &["getusernam", "get", "user", "name"]),
            ("HTTPServer", &["httpserver", "http", "server"]),
            ("app.http.Client", &["app.http.client", "app", "http", "client"]),
            ("serde::json", &["serde::json", "serd", "json"]),
            ("mRNA", &["mrna"]),
            ("3.14", &["3.14", "3", "14"]),
            ("cell's", &["cell"]),
            ("ends here.", &["end"]),
        ];
        for (text, expected) in table {
            assert_eq!(english(text), *expected, "{text}");
        }
        let tokens = Analyzer::new(Tokenizer::Default, Language::En).tokens("PAY-6006");
        assert_eq!(tokens.iter().filter(|token| !token.part).count(), 1);
    }

    /// SPS-08: the part about terms.
    #[test]
    fn placeholders_of_masked_text_are_no_terms() {
        for tokenizer in Tokenizer::ALL {
            for placeholder in kuhaku_core::Placeholder::ALL {
                let text = format!("mail {placeholder} bounced{placeholder}");
                let found = terms(*tokenizer, Language::None, &text);
                assert_eq!(found.len(), 2, "{tokenizer} {placeholder}: {found:?}");
            }
            assert_eq!(terms(*tokenizer, Language::None, "[EMAIL x"), ["email", "x"]);
        }
    }

    #[test]
    fn a_repeated_query_term_counts_again_in_simple_only() {
        for tokenizer in Tokenizer::ALL {
            let counts = Analyzer::new(*tokenizer, Language::En).query_terms("zebra horse zebra");
            let expected = if *tokenizer == Tokenizer::Simple { [2, 1] } else { [1, 1] };
            assert_eq!(counts.iter().map(|term| term.count).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn questions_keep_the_words_that_name_what_they_are_about() {
        let table: &[(Language, &str, &[&str])] = &[
            (Language::De, "Was darf nicht auf den Kompost?", &["kompost"]),
            (Language::De, "Wie viele Urlaubstage habe ich im Jahr?", &["urlaubstag", "jahr"]),
            (Language::Nl, "Wat mag er niet in de container?", &["container"]),
            (Language::Sv, "Vad får jag inte lägga i komposten?", &["lagg", "kompost"]),
            (Language::Da, "Hvad må der ikke komme i komposten?", &["kom", "kompost"]),
            (Language::No, "Hva kan jeg ikke legge i komposten?", &["legg", "kompost"]),
            (
                Language::Fr,
                "Qu'est-ce qui n'est pas couvert par la garantie ?",
                &["couvert", "garant"],
            ),
            (Language::Es, "¿Cuándo puedo usar la garantía?", &["usar", "garant"]),
            (Language::It, "Che cos'è l'imposta e dov'è indicata?", &["impost", "indic"]),
            (Language::Pt, "Quantos dias de férias eu tenho?", &["dias", "fer"]),
            (Language::Ro, "Ce este şi unde se află contractul?", &["afla", "contract"]),
            (Language::Fi, "Mitä ei saa laittaa kompostiin?", &["lait", "kompost"]),
            (Language::Hu, "Mit nem szabad a komposztba tenni?", &["komposzt", "tenn"]),
            (Language::Ru, "Что нельзя класть в компост?", &["класт", "компост"]),
            (Language::El, "ΠΟΙΟΣ είναι ο κανόνας;", &["κανον"]),
        ];
        for (language, question, expected) in table {
            let found = terms(Tokenizer::Default, *language, question);
            assert_eq!(found, *expected, "{language} {question}");
        }
    }

    #[test]
    fn a_stop_word_before_an_apostrophe_is_no_part_of_the_word_after_it() {
        for (language, elided, plain) in [
            (Language::Fr, "l'avion", "avion"),
            (Language::Fr, "L’avion", "avion"),
            (Language::Fr, "d'abord", "abord"),
            (Language::It, "dell'acqua", "acqua"),
            (Language::Nl, "'s avonds", "avonds"),
        ] {
            let found = |text| terms(Tokenizer::Default, language, text);
            assert_eq!(found(elided), found(plain), "{elided}");
            assert_eq!(found(elided).len(), 1, "{elided}");
        }
        assert_eq!(terms(Tokenizer::Default, Language::Fr, "la vitamine C")[1..], ["c"]);
    }

    #[test]
    fn other_languages_split_at_apostrophes() {
        let french = terms(Tokenizer::Default, Language::Fr, "aujourd'hui");
        assert!(french.contains(&"hui".to_owned()), "{french:?}");
        let turkish = terms(Tokenizer::Default, Language::Tr, "İstanbul'da");
        assert!(turkish.contains(&"istanbul".to_owned()), "{turkish:?}");
    }
}
