//! Turkish.

use crate::guard::rules::table::{Fragment, Language, RuleText};
use crate::guard::screening::GuardFamily::{InstructionOverride, PersonaOverride, PromptLeak};

pub(super) const TURKISH: Language = Language { fragments: &FRAGMENTS, rules: &RULES };

const FRAGMENTS: [Fragment; 5] = [
    ("<talimat>", r"talimat|komut|yonerge|kural|emir|emr|direktif|istem|prompt"),
    (
        "<onceki>",
        r"onceki|daha onceki|bundan onceki|yukaridaki|evvelki|verilen|verilmis|mevcut|tum|butun",
    ),
    (
        "<yok say>",
        r"(?:yok say|gecersiz say|gormezden gel|unut|bosver|bos ver|goz ?ardi et|dikkate alma|hice say|iptal et|gecersiz kil|devre disi birak|takip etme|uygulama|uyma)(?:in|yin|iniz|yiniz|un|unuz|rak|arak)?\b(?: (?:ve|simdi|artik|bunun|sadece|bana|tam|yalnizca|sonra|bundan|de|da|sana)\b|[.,]|$)",
    ),
    (
        "<goster>",
        r"goster|yazdir|acikla|paylas|soyle|yaz|ver|tekrarla|tekrar et|ifsa et|sizdir|listele|ilet|aktar|oku|dok|goruntule|ac",
    ),
    (
        "<sinirsiz>",
        r"kisitlamasiz|sinirsiz|filtresiz|sansursuz|kuralsiz|denetimsiz|etik disi|hicbir (?:kurala?|kisitlama|sinir|filtre)[a-z]{0,8}(?: (?:bagli|tabi|olmayan|uymayan|yok))?",
    ),
];

const TALIMAT: &[&str] =
    &["talimat", "komut", "yonerge", "kural", "emir", "emr", "direktif", "istem", "prompt"];
const YOK_SAY: &[&str] = &[
    "yok",
    "gecersiz",
    "gormezden",
    "unut",
    "bosver",
    "bos",
    "ardi",
    "dikkate",
    "hice",
    "iptal",
    "devre",
    "takip",
    "uygulama",
    "uyma",
];
const GOSTER: &[&str] = &[
    "goster",
    "yazdir",
    "acikla",
    "paylas",
    "soyle",
    "yaz",
    "ver",
    "tekrar",
    "ifsa",
    "sizdir",
    "listele",
    "ilet",
    "aktar",
    "oku",
    "dok",
    "goruntule",
    "ac",
];
const SINIRSIZ: &[&str] = &[
    "kisitlamasiz",
    "sinirsiz",
    "filtresiz",
    "sansursuz",
    "kuralsiz",
    "denetimsiz",
    "etik",
    "hicbir",
];
const SIMDI: &[&str] = &["artik", "simdi", "bundan", "an"];

const RULES: [RuleText; 16] = [
RuleText::words(InstructionOverride, [TALIMAT, YOK_SAY], r"(?:tum |butun |her |senin |sana |simdiye kadar ){0,2}<onceki> (?:tum |butun |sistem |verilen |guvenlik ){0,2}<talimat>[a-z]{0,10} (?:tamamen |hemen |lutfen |artik |simdi ){0,2}<yok say>"),
// "Unut önceki talimatları"
RuleText::words(InstructionOverride, [YOK_SAY, TALIMAT], r"(?:yok say|gormezden gel|unut|bosver|iptal et|dikkate alma) (?:tum |butun |sana |bu ){0,2}<onceki> (?:tum |butun |sistem |verilen ){0,2}<talimat>[a-z]{0,10}(?:[.,]| ve | simdi |$)"),
RuleText::words(InstructionOverride, [&["mesaj", "konusma", "soylenen", "soyledik", "sey", "yazilan", "baglam"], YOK_SAY], r"(?:onceki|yukaridaki|bundan onceki|simdiye kadar(?:ki)?|sana|buraya kadar) (?:tum |butun |her |olan ){0,2}(?:mesajlar|konusmalar|konusma|soylenenler|soyledikler|seyler|sey|yazilanlar|baglam)[a-z]{0,8} (?:tamamen |hemen ){0,1}<yok say>").signal(),
RuleText::words(InstructionOverride, [&["politika", "kisitlama", "filtre", "sinirlama", "kural", "onlem", "protokol"], &["gecersiz", "kaldir", "devre", "yok", "kapat", "iptal", "muaf"]], r"(?:guvenlik |etik |tum |butun |icerik ){0,3}(?:politika|kisitlama|filtre|sinirlama|kural|onlem|protokol)[a-z]{0,10} (?:gecersiz kil|kaldir|devre disi birak|yok say|kapat|iptal et|muaf)").signal(),
RuleText::words(InstructionOverride, [&["kosulsuz", "reddetme", "reddedemez", "itaat"], &["kosulsuz", "reddet", "reddedemez", "itaat"]], r"(?:kosulsuz (?:olarak )?(?:yap|uygula|itaat|yerine getir)|reddetme(?:den|yeceksin|k yok)?\b|reddedemezsin)").cue(),
RuleText::words(InstructionOverride, [&["gelistirici", "yonetici", "bakim", "admin", "tanri"], &["mod"]], r"(?:gelistirici|yonetici|bakim|admin|tanri) modu?(?:nu|na|nda)? (?:etkin|aktif|gec|ac|devrede)[a-z]{0,12}").signal(),
RuleText::words(PersonaOverride, [SIMDI, SINIRSIZ], r"(?:artik|simdi|su andan itibaren|bundan (?:sonra|boyle)) (?:sen )?(?:[a-z]{1,16} ){0,3}?<sinirsiz> (?:bir )?(?:[a-z]{1,16} ){0,2}?(?:asistan|yapay zeka|model|bot|ai)"),
RuleText::words(PersonaOverride, [&["gibi", "rol", "olarak"], SINIRSIZ], r"<sinirsiz> (?:bir )?(?:[a-z]{1,16} ){0,2}?(?:asistan|yapay zeka|model|bot|ai)[a-z]{0,4} (?:gibi|olarak|rolunu|rolune) (?:davran|yanit|cevap|konus|ustlen|gir|oyna)").signal(),
RuleText::words(PersonaOverride, [&["bundan", "itibaren", "artik"], &["sensin", "davran", "cevap", "yanit", "rolunde"]], r"(?:bundan (?:sonra|boyle)|su andan itibaren|artik) (?:[a-z]{1,12} ){0,4}?(?:sensin|gibi davran|olarak davran|cevap ver|yanit ver|rolundesin)").signal(),
RuleText::words(PersonaOverride, [&["dan"], &["gibi", "mod"]], r"dan (?:gibi davran|modu|modun|moduna)"),
RuleText::words(PromptLeak, [&["sistem", "gizli", "baslangic", "orijinal", "dahili"], GOSTER], r"(?:sistem|gizli|baslangic|orijinal|dahili) (?:prompt|istem|mesaj|talimat|komut|yonerge|kural)[a-z]{0,10} (?:bana |tamamen |aynen |oldugu gibi |kelimesi kelimesine |eksiksiz |burada |tam olarak |lutfen ){0,3}<goster>(?:[.,]| ve |in|er|ir|sene|$|iniz)"),
RuleText::words(PromptLeak, [GOSTER, &["sistem", "gizli"]], r"(?:goster|yazdir|acikla|paylas|soyle|sizdir|ifsa et) (?:bana |tum |butun ){0,2}(?:sistem|gizli) (?:prompt|istem|mesaj|talimat|komut|yonerge)[a-z]{0,10}"),
RuleText::words(PromptLeak, [&["sistem"], &["prompt", "istem"]], r"sistem (?:prompt|istem)[a-z]{0,10} (?:bana |tamamen |aynen |kelimesi kelimesine ){0,2}<goster>"),
RuleText::words(PromptLeak, [&["sistem"], &["ne"]], r"sistem (?:prompt|istem)[a-z]{0,10} (?:ne|nedir)\b"),
RuleText::words(PromptLeak, [&["sana"], GOSTER], r"sana verilen (?:ilk |gizli |tum |butun ){0,2}(?:talimat|komut|yonerge|prompt|kural)[a-z]{0,10} (?:bana |aynen |oldugu gibi ){0,2}<goster>").signal(),
RuleText::words(InstructionOverride, [TALIMAT, &["oku", "uygula", "izle", "takip"]], r"(?:onceki|yukaridaki) (?:tum |butun )?<talimat>[a-z]{0,10} (?:dikkatle |lutfen )?(?:oku|uygulay|izley|takip ed)[a-z]{0,10}").excuse(),
];
