//! French.

use crate::guard::rules::table::{Fragment, Language, RuleText};
use crate::guard::screening::GuardFamily::{InstructionOverride, PersonaOverride, PromptLeak};

pub(super) const FRENCH: Language = Language { fragments: &FRAGMENTS, rules: &RULES };

const FRAGMENTS: [Fragment; 4] = [
    (
        "<instructions>",
        r"instructions?|consignes?|directives?|regles|ordres|commandes|indications|prompts?",
    ),
    (
        "<ignore>",
        r"ignore[sz]?|ignorer|oublie[sz]?|oublier|neglige[sz]?|outrepasse[sz]?|contourne[sz]?|ne tiens pas compte|ne tenez pas compte|ne tiens plus compte|ne tenez plus compte|fais abstraction|faites abstraction|ne suis pas|ne suivez pas|laisse[sz]? tomber",
    ),
    ("<les>", r"toutes? |tous |les? |la |des? |tes |vos |mes |ces |l |du "),
    (
        "<precedentes>",
        r"precedente?s?|anterieure?s?|prealables?|ci dessus|initiales?|originales?|donnees (?:avant|precedemment|plus haut)|au dessus|plus haut|que (?:tu as|vous avez|je tai|je vous ai|lon ta|on ta|on vous a) (?:recues?|donnees?|eues?)|recues?",
    ),
];

const IGNORE: &[&str] = &[
    "ignore",
    "oubli",
    "neglige",
    "outrepasse",
    "contourne",
    "compte",
    "abstraction",
    "suis",
    "suivez",
    "tomber",
];
const INSTRUCTIONS: &[&str] = &[
    "instruction",
    "consigne",
    "directive",
    "regles",
    "ordres",
    "commandes",
    "indication",
    "prompt",
];
const MONTRE: &[&str] = &[
    "montre", "revele", "affiche", "repete", "donne", "imprime", "ecri", "dis", "partage",
    "traduis", "quel", "recite", "divulgue",
];

const RULES: [RuleText; 8] = [
RuleText::words(InstructionOverride, [IGNORE, INSTRUCTIONS], r"<ignore> (?:<les>){0,5}<instructions> (?:[a-z]{1,12} )?<precedentes>(?: |[.,]|$)").as_command(),
RuleText::words(InstructionOverride, [IGNORE, INSTRUCTIONS], r"<ignore> (?:<les>){0,4}(?:precedente?s|anterieure?s) <instructions>\b").as_command(),
RuleText::words(InstructionOverride, [IGNORE, INSTRUCTIONS], r"<ignore> (?:toutes (?:les |tes |vos )|tous (?:les |tes |vos )|tes |vos )<instructions>(?: (?:et|puis)\b|[.,]|$)").as_command(),
RuleText::words(InstructionOverride, [&["oubli", "ignore"], &["tout", "precede", "dit"]], r"(?:oublie[sz]?|ignore[sz]?) tout (?:ce qui (?:precede|a ete dit|est au dessus)|ce que (?:je|tu|vous|on|lon|nous)[a-z ]{1,12})\b").as_command().signal(),
RuleText::words(PersonaOverride, [&["tu", "vous", "agis", "repond", "comporte"], &["sans", "illimite", "restreint", "censure"]], r"(?:tu es|vous etes|tu seras|vous serez|agis|reponds|repondez|comporte toi) (?:[a-z]{1,16} ){0,4}?(?:sans (?:aucune? )?(?:restrictions?|limites?|filtres?|censure|regles)|illimitee?|non restreinte?|non censuree?)"),
RuleText::words(PersonaOverride, [&["desormais", "maintenant", "present"], &["tu", "vous"]], r"(?:desormais|a partir de maintenant|des maintenant|des a present) (?:tu|vous) (?:es|etes|seras|serez|obeis|obeissez|reponds|repondez|dois|devez|agis|agissez|vas|allez)\b").signal(),
RuleText::words(PromptLeak, [MONTRE, &["systeme", "initial", "secret", "cache", "origin"]], r"(?:montre[sz]?|revele[sz]?|affiche[sz]?|repete[sz]?|donne[sz]?|imprime[sz]?|ecri(?:s|vez)|dis|partage[sz]?|traduis(?:ez)?|divulgue[sz]?|recite[sz]?|quel(?:le)?s? (?:est|sont))(?: (?:moi|nous|integralement|tout|tous|toutes|le|la|les|ton|ta|tes|votre|vos|du|de|texte|contenu|mot pour mot|exactement|ici|ce que contient)){0,5} (?:prompts?|consignes?|instructions?|message|invite|directives?|regles) (?:de |du |de ton )?(?:systeme|initiale?s?|secrete?s?|cachee?s?|originale?s?|dorigine)\b").as_command(),
RuleText::words(InstructionOverride, [&["suiv", "lire", "lisez", "respecte", "oubliez", "ignorez"], INSTRUCTIONS], r"(?:suivez|suivre|lire|lisez|respecte[rz]|n ?oubliez pas|n ?ignorez pas) (?:<les>){0,3}<instructions>\b").excuse(),
];
