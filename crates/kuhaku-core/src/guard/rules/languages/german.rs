//! German.

use crate::guard::rules::table::{Fragment, Language, RuleText};
use crate::guard::screening::GuardFamily::{InstructionOverride, PersonaOverride, PromptLeak};

pub(super) const GERMAN: Language = Language { fragments: &FRAGMENTS, rules: &RULES };

const FRAGMENTS: [Fragment; 5] = [
    (
        "<zuvor>",
        r"(?:zuvor|vorher|bisher|vorherigen?|bisherigen?|obigen?) (?:gesagten?|genannten?|anweisungen|vorgaben|regeln)",
    ),
    (
        "<ignoriere>",
        r"ignorier(?:e|en sie|en|t)?|vergiss|vergesst|vergessen sie|missachten? (?:sie )?|missachte|verwirf|verwerfen sie|ubergehe|uberschreibe|umgehe|lass(?:en sie)?",
    ),
    (
        "<vorherige>",
        r"vorherigen?|vorhergehenden?|vorangegangenen?|vorangehenden?|bisherigen?|fruheren?|obigen?|vorigen?|obenstehenden?|oben genannten|ursprunglichen?|zuvor gegebenen|gegebenen",
    ),
    (
        "<anweisungen>",
        r"anweisung(?:en)?|instruktion(?:en)?|vorgaben?|befehle?n?|regeln|richtlinien|prompts?|anordnungen|aufforderungen|eingaben|systemanweisungen|weisungen",
    ),
    (
        "<die>",
        r"sie |bitte |einfach |jetzt |alle[snr]? |die |deine |ihre |meine |diese |jegliche |samtliche |den |der |von |mal ",
    ),
];

const IGNORIERE: &[&str] = &[
    "ignorier",
    "vergiss",
    "vergess",
    "missacht",
    "verwirf",
    "verwerf",
    "ubergeh",
    "uberschreib",
    "umgeh",
    "lass",
];
const ANWEISUNGEN: &[&str] = &[
    "anweisung",
    "instruktion",
    "vorgabe",
    "befehl",
    "regeln",
    "richtlinien",
    "prompt",
    "anordnung",
    "aufforderung",
    "eingabe",
    "weisung",
];
const ZEIG: &[&str] = &[
    "zeig",
    "gib",
    "geben",
    "nenn",
    "verrat",
    "wiederhol",
    "druck",
    "ubersetz",
    "schreib",
    "ausgeb",
    "offenbar",
    "sag",
    "liste",
];

const RULES: [RuleText; 14] = [
RuleText::words(InstructionOverride, [IGNORIERE, ANWEISUNGEN], r"<ignoriere> (?:<die>){0,5}<vorherige> (?:[a-z]{1,16} (?:und|oder) )?<anweisungen>\b").as_command(),
RuleText::words(InstructionOverride, [IGNORIERE, ANWEISUNGEN], r"<ignoriere> (?:<die>){0,5}<anweisungen> (?:davor|zuvor|oben|von oben|von vorhin|von vorher|bisher|die (?:du|sie|ich|dir|ihnen))\b").as_command(),
RuleText::words(InstructionOverride, [IGNORIERE, ANWEISUNGEN], r"<ignoriere> (?:alle|samtliche|jegliche|deine|ihre) (?:deine |ihre |bisherigen )?<anweisungen>(?: und |[.,]|$)").as_command(),
RuleText::words(InstructionOverride, [ANWEISUNGEN, &["ignorier", "vergess", "missacht"]], r"<vorherige> <anweisungen> (?:bitte |zu |einfach |komplett |vollstandig ){0,3}(?:ignorieren|vergessen|missachten|ignoriert|ignoriere)\b"),
RuleText::words(InstructionOverride, [&["vergiss", "vergess", "ignorier"], &["alles", "davor", "bisher", "gesagt"]], r"(?:vergiss|vergesst|vergessen sie|ignorier(?:e|en sie)) (?:bitte |jetzt )?alles (?:davor|zuvor|bisher|vorher|bisherige|vorherige|obige|was (?:ich|du|wir|sie|man|dir|ihnen|davor|vorher|zuvor|bisher|oben))\b").as_command(),
RuleText::words(InstructionOverride, [&["zuvor", "vorher", "bisher", "obige"], &["gesagte", "genannte", "anweisung", "vorgab", "regeln"]], r"(?:hore?|achte|befolge|beachte|folge)n? (?:sie )?(?:nicht (?:mehr )?(?:auf )?(?:alles |alle |die |den |das ){0,2}<zuvor>|(?:auf )?(?:alles |alle |die |den |das ){0,2}<zuvor> nicht)\b").signal(),
RuleText::words(InstructionOverride, [&["aufgabe", "anweisung", "instruktion", "vorgabe", "befehl", "regeln", "richtlinien", "prompt", "anordnung", "aufforderung", "eingabe", "weisung"], &["neue", "weitere", "andere", "abweichend", "entgegen"]], r"(?:(?:nun|jetzt) folgen (?:neue|weitere|andere) (?:aufgaben|anweisungen)|(?:deine|ihre|einer|die) neuen? aufgaben?(?: (?:ist|lautet)|[.,]|$)|(?:abweichend|entgegen)(?: zu| von)? (?:den |allen )?<vorherige> <anweisungen>)").signal(),
RuleText::words(InstructionOverride, [IGNORIERE, &["information", "aufgabe", "kontext", "unterhaltung", "text"]], r"<ignoriere> (?:<die>){0,3}<vorherige> (?:informationen|aufgaben?|kontext|unterhaltung|texte?)\b").as_command().signal(),
RuleText::words(PersonaOverride, [&["jetzt", "nun", "sofort"], &["uneingeschrank", "unzensiert", "ungefiltert", "unbeschrank", "ohne"]], r"(?:du bist|sie sind|bist du|sind sie|verhalte dich|antworte|handle) (?:ab )?(?:jetzt|nun|sofort|von nun an|ab sofort) (?:als )?(?:[a-z]{1,14} ){0,3}?(?:uneingeschrankte?[rsn]?|unzensierte?[rsn]?|ungefilterte?[rsn]?|unbeschrankte?[rsn]?|ohne (?:jegliche |jede |irgendwelche )?(?:einschrankung|beschrankung|regeln|filter|zensur|grenzen))"),
RuleText::words(PersonaOverride, [&["jetzt", "nun", "sofort"], &["bist", "sind", "wirst", "werden", "antwortest", "handelst"]], r"(?:ab (?:jetzt|sofort)|von (?:nun|jetzt) an) (?:bist du|sind sie|wirst du|werden sie|antwortest du|handelst du)\b").signal(),
RuleText::words(PersonaOverride, [&["mochte", "will", "sollst", "sollen"], &["auftr", "verh", "agier", "handel", "spiel", "ubern"]], r"(?:ich mochte|ich will|du sollst|sie sollen) (?:dass (?:du|sie) )?(?:dich |sich )?(?:als|wie|die rolle) (?:[a-z]{1,20} ){1,4}(?:auftr(?:eten|ittst)|verh[a]lt(?:en|st)|agier(?:en|st)|handel(?:n|st)|spiel(?:en|st)|ubernimmst|ubernehmen)").signal(),
RuleText::words(PromptLeak, [ZEIG, &["system", "ursprunglich", "geheim", "versteckt", "initial", "prompt"]], r"(?:zeige?n?|gib|geben sie|nenne?|verrate?|wiederhole?|drucke?|ubersetze?|schreibe?|offenbare?|sage?|liste)(?: (?:sie|mir|uns|bitte|alle|den|die|das|deine?n?|ihre?n?|aus|gesamten?|vollstandigen?|genauen?|kompletten?|exakten?|inhalt|text|deines|ihres|auf|wortlich|nochmal)){0,6} (?:system ?prompts?|system ?anweisung(?:en)?|system ?nachricht|ursprunglichen? (?:anweisung(?:en)?|prompts?)|geheimen? anweisung(?:en)?|versteckten? anweisung(?:en)?|initialen? prompts?|prompt texte)\b").as_command(),
RuleText::words(PromptLeak, [&["was", "wie"], &["system"]], r"(?:was ist|was sind|was steht in|wie lautet|wie lauten) (?:dein(?:e|em|en)?|ihr(?:e|em|en)?) (?:system ?prompts?|system ?anweisung(?:en)?|system ?nachricht)\b"),
RuleText::words(InstructionOverride, [&["beacht", "befolg", "les", "nicht"], ANWEISUNGEN], r"(?:(?:beachten?|befolgen?|lesen?) (?:sie )?(?:bitte )?(?:<die>){0,3}(?:<vorherige> )?<anweisungen>|<ignoriere> (?:sie )?(?:<die>){0,2}<anweisungen> (?:[a-z]{1,14} ){0,3}?nicht)\b").excuse(),
];
