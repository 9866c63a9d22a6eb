//! Texts in twelve scripts, made of words with a fixed seed: short and long, with numbers,
//! punctuation, marks that combine, spaces of many kinds, emoji and mixed scripts.

/// A script's words, and what stands between them.
const SCRIPTS: [(&str, &str, &str); 12] = [
    (
        "latin",
        "the Parcel returns café naïve STRASSE Straße über İstanbul ılık résumé coöperate don't e-mail",
        " ",
    ),
    (
        "cyrillic",
        "сколько дней отпуска Москва договор срок ёлка подъезд вода огонь по-русски їжак",
        " ",
    ),
    ("greek", "πόσες ημέρες άδεια το νερό είναι κρύο Ἀθῆναι σοφός ΟΔΟΣ", " "),
    ("arabic", "كم يوم إجازة في السنة هذا ماءٌ بارد مُحَمَّد الكتاب لا", " "),
    ("hebrew", "כמה ימים יש בשנה מים קרים שָׁלוֹם עולם ספר", " "),
    ("devanagari", "पानी और दिन कितने हैं हिन्दी क्षत्रिय ज्ञान विद्यालय", " "),
    ("bengali", "জল আগুন কত দিন বাংলা বিদ্যালয় ক্ষমা", " "),
    ("tamil", "தண்ணீர் நெருப்பு எத்தனை நாட்கள் தமிழ் பள்ளி", " "),
    ("thai", "น้ำ ไฟ กี่วัน ในหนึ่งปี โรงเรียน ภาษาไทย ก็", ""),
    ("han", "中国 学生 大山 合同 多少 天 年假 的 漢字 龘 𠮷", ""),
    ("kana", "東京の 天気は 何時ですか カタカナ ﾊﾝｶｸ ひらがな がぎぐ ーっゃ", ""),
    ("hangul", "한 해에 며칠을 쉬나 물 불 학교 ㄱㄴㄷ 각", " "),
];

const BETWEEN: [&str; 12] = [
    ", ",
    ". ",
    "\n",
    "  ",
    "\u{3000}",
    "\u{a0}",
    " 🔥 ",
    " 👩‍🚀",
    " 3.14 ",
    " (A-17/b) ",
    "…",
    "\t",
];

/// `per_script` texts in each of the scripts, of 1 to about 60 words, none with white space at its
/// end.
pub(crate) fn texts(per_script: usize) -> Vec<String> {
    let mut seed = 7u64;
    let mut random = move |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap() % below
    };
    let mut texts = Vec::new();
    for (_, words, between) in SCRIPTS {
        let words: Vec<&str> = words.split(' ').collect();
        for number in 0..per_script {
            let mut text = String::new();
            for _ in 0..=number * number / 10 {
                // Some words of another script.
                let strange: Vec<&str> = SCRIPTS[random(12)].1.split(' ').collect();
                let words = if random(9) == 0 { &strange } else { &words };
                text.push_str(words[random(words.len())]);
                text.push_str(if random(4) == 0 { BETWEEN[random(12)] } else { between });
            }
            text.truncate(text.trim_end().len());
            texts.push(text);
        }
    }
    texts
}

/// English words in texts of the given numbers of words.
pub(crate) fn english(lengths: impl IntoIterator<Item = usize>) -> Vec<String> {
    const WORDS: [&str; 24] = [
        "notice",
        "period",
        "contract",
        "annual",
        "leave",
        "parcel",
        "return",
        "policy",
        "water",
        "insurance",
        "claim",
        "travel",
        "receipt",
        "within",
        "thirty",
        "days",
        "the",
        "of",
        "and",
        "must",
        "employee",
        "manager",
        "approval",
        "before",
    ];
    let mut at = 0usize;
    let text = |length: usize| {
        let words: Vec<&str> = (0..length)
            .map(|_| {
                at = at.wrapping_mul(1_103_515_245).wrapping_add(12_345) % (1 << 31);
                WORDS[at / 65_536 % WORDS.len()]
            })
            .collect();
        words.join(" ")
    };
    lengths.into_iter().map(text).collect()
}

/// Text lengths in words: mostly short, some long, in no order.
pub(crate) fn mixed(texts: usize) -> Vec<String> {
    english((0..texts).map(|at| match at % 8 {
        0 => 120 + at * 29 % 60,
        1 | 2 => 40 + at * 31 % 40,
        _ => 5 + at * 37 % 20,
    }))
}
