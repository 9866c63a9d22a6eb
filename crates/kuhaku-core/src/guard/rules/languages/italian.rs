//! Italian.

use crate::guard::rules::table::{Fragment, Language, RuleText};
use crate::guard::screening::GuardFamily::{InstructionOverride, PersonaOverride, PromptLeak};

pub(super) const ITALIAN: Language = Language { fragments: &FRAGMENTS, rules: &RULES };

const FRAGMENTS: [Fragment; 4] = [
    (
        "<istruzioni>",
        r"istruzion[ei]|regol[ae]|direttiv[ae]|ordini|comandi|indicazioni|prompt|disposizioni|linee guida",
    ),
    (
        "<ignora>",
        r"ignora(?:te|re)?|ignori|dimentica(?:te|re|ti)?|dimentichi|trascura(?:te|re)?|tralascia|non considerare|non considerate|non tenere conto|non seguire|non seguite|scarta|disobbedisci|lascia perdere|bypassa|aggira",
    ),
    (
        "<le>",
        r"tutt[aeio] |le |gli |i |la |il |tue |tuoi |mie |queste |quelle |di |delle |degli |dalle |qualsiasi |ogni |sue ",
    ),
    (
        "<precedenti>",
        r"precedent[ei]|sopra|qui sopra|di sopra|sopra riportate|anterior[ei]|inizial[ei]|original[ei]|che (?:ti|hai|vi|le) (?:hanno |ho |sono state |sono stati |ha )?(?:dat[oei]|ricevut[oei]|fornit[oei]|impartit[oei])|ricevut[ei]|dat[ei] (?:prima|finora)|prima",
    ),
];

const IGNORA: &[&str] = &[
    "ignor",
    "dimenti",
    "trascura",
    "tralascia",
    "considera",
    "conto",
    "segui",
    "scarta",
    "disobbedisci",
    "perdere",
    "bypassa",
    "aggira",
];
const ISTRUZIONI: &[&str] = &[
    "istruzion",
    "regol",
    "direttiv",
    "ordini",
    "comandi",
    "indicazioni",
    "prompt",
    "disposizioni",
    "linee",
];
const MOSTRA: &[&str] = &[
    "mostra",
    "rivela",
    "ripeti",
    "stampa",
    "scrivi",
    "dimmi",
    "elenca",
    "condividi",
    "traduci",
    "qual",
];

const RULES: [RuleText; 8] = [
RuleText::words(InstructionOverride, [IGNORA, ISTRUZIONI], r"<ignora> (?:<le>){0,4}<istruzioni> (?:[a-z]{1,12} )?<precedenti>\b").as_command(),
RuleText::words(InstructionOverride, [IGNORA, ISTRUZIONI], r"<ignora> (?:<le>){0,4}(?:precedenti|suddette) <istruzioni>\b").as_command(),
RuleText::words(InstructionOverride, [IGNORA, ISTRUZIONI], r"<ignora> (?:tutt[ei] (?:le |le tue |i tuoi |gli )?|le tue )(?:istruzioni|regole|direttive)(?: e |[.,]|$)").as_command(),
RuleText::words(InstructionOverride, [&["dimenti", "ignora"], &["cio", "quello"]], r"(?:dimentica(?:te|ti)?|ignora(?:te)?) (?:di )?(?:tutto (?:cio |quello )|cio |quello )(?:che (?:ti|ho|hai|e stato|abbiamo|precede|viene|c)|sopra|precedente)").as_command().signal(),
RuleText::words(PersonaOverride, [&["ora", "adesso", "poi"], &["senza", "illimitat", "libero"]], r"(?:ora|adesso|da ora in poi|da adesso in poi|dora in poi) (?:tu )?(?:sei|sarai|agisci come|comportati come|rispondi come|rispondi) (?:un[ao]? )?(?:[a-z]{1,16} ){0,3}?(?:senza (?:alcuna? |nessuna? )?(?:restrizion[ei]|limit[ei]|limitazioni|filtr[oi]|censura|regole)|illimitat[oa]|libero da (?:restrizioni|regole))\b"),
RuleText::words(PersonaOverride, [&["ora", "adesso"], &["sei", "sarai", "rispond", "agi", "devi", "dovrai"]], r"(?:da ora in poi|da adesso in poi|dora in poi|dora in avanti) (?:tu )?(?:sei|sarai|risponderai|rispondi|agirai|agisci|devi|dovrai)\b").signal(),
RuleText::words(PromptLeak, [MOSTRA, &["sistema", "inizial", "original", "segret", "nascost"]], r"(?:mostra(?:mi)?|rivela(?:mi)?|ripeti(?:mi)?|stampa|scrivi(?:mi)?|dimmi|elenca|condividi|traduci|qual e|quali sono) (?:tutt[oei] |il |lo |la |le |i |tuo |tue |tuoi |tua |testo |contenuto |del |delle |completo ){0,6}(?:prompt|istruzioni|messaggio|direttive|regole) (?:di |del )?(?:sistema|inizial[ei]|original[ei]|segret[aeoi]|nascost[aeoi])\b").as_command(),
RuleText::words(InstructionOverride, [&["segu", "legg", "rispett"], ISTRUZIONI], r"(?:segui(?:re|te)?|legg(?:ere|ete|i)|rispetta(?:re|te)?) (?:<le>){0,3}(?:precedenti )?<istruzioni>\b").excuse(),
];
