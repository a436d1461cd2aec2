/** The named entities that libraries write when they escape HTML: the five of XML, ASCII punctuation, and Latin-1. */
const signs =
  'amp& lt< gt> quot" apos\' nbsp\u00A0 excl! num# dollar$ percnt% lpar( rpar) ast* midast* plus+ comma, period. sol/ colon: semi; equals= quest? ' +
  'commat@ lsqb[ lbrack[ bsol\\ rsqb] rbrack] Hat^ lowbar_ grave` lcub{ lbrace{ verbar| vert| rcub} rbrace} hyphen\u2010 dash\u2010 ' +
  'Tab\t NewLine\n shy\u00AD zwnj\u200C zwj\u200D ZeroWidthSpace\u200B ensp\u2002 emsp\u2003 thinsp\u2009 ndash– mdash— lsquo‘ rsquo’ ldquo“ rdquo” bull• hellip… ' +
  'euro€ trade™';

/** From U+00A1 on, in order. */
const latin1 =
  'iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm ' +
  'raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH ' +
  'Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ' +
  'ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml ' +
  'yacute thorn yuml';

const codes = new Map<string, number>();
for (const [, name, char] of signs.matchAll(/([A-Za-z]+)([^ ])/g)) codes.set(name!, char!.codePointAt(0)!);
for (const [at, name] of latin1.split(' ').entries()) codes.set(name, 0xa1 + at);

const beginnings = new Set(Array.from(codes.keys(), (name) => Array.from(name, (_, at) => name.slice(0, at + 1))).flat());

/** The code of a named entity, given without `&` and `;`. */
export const entityCode = (name: string): number | undefined => codes.get(name);

export const beginsEntity = (name: string): boolean => beginnings.has(name);
