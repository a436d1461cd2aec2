/** The names in braces of a text: "at" and "name" of "{name} wrote at {at}". */
export type Placeholder<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholder<Rest>
  : never;

/** What stands for one number, by the rules of its language: English has `one` and `other`. */
export type PluralForms = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };

/** The texts of a page in one language, by the English text that stands in the code; plurals by that of one. */
export type Language<Text extends string = string, Plural extends string = string> = {
  texts: Readonly<Record<Text, string>>;
  plurals: Readonly<Record<Plural, PluralForms>>;
};

type Spoken = Language & { rules: Intl.PluralRules };

const english: Spoken = { texts: {}, plurals: {}, rules: new Intl.PluralRules('en') };
let spoken = english;

/** From here on texts are in this language; before any is made, as those of a module are made when it loads. `tag` as of BCP 47: "de". */
export function speak(tag: string, language: Language): void {
  spoken = { ...language, rules: new Intl.PluralRules(tag) };
}

/** For the texts that `Intl` makes. Numbers and clocks are the person's, whatever the language of the page. */
export const language = (): string => spoken.rules.resolvedOptions().locale;

/** The text with its placeholders, in the language of the page. What a language lacks stays English. */
export const translated = (text: string): string => spoken.texts[text] ?? text;

export function translatedPlural(value: number, one: string, many: string): string {
  const forms = spoken.plurals[one];
  if (forms === undefined) return english.rules.select(value) === 'one' ? one : many;
  return forms[spoken.rules.select(value)] ?? forms.other;
}
